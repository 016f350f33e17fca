package io.delayqueue.benchmarks.library;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import com.sun.management.OperatingSystemMXBean;
import io.delayqueue.DelayedListener;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Runs several nodes that listen to one queue in a JVM of their own. Prints its cost when
 * all have started, and again for each line of its standard input.
 */
final class ScaleNodes {

    static final String QUEUE = "measured";

    /** How many nodes to start, among the properties. */
    static final String NODES = "measured.nodes";

    private static final LongAdder handled = new LongAdder();

    private ScaleNodes() {
    }

    public static void main(String[] arguments) throws IOException {
        String option = "--" + NODES + "=";
        int nodes = Stream.of(arguments)
            .filter((argument) -> argument.startsWith(option))
            .mapToInt((argument) -> Integer.parseInt(argument.substring(option.length())))
            .findFirst()
            .orElseThrow();
        SpringApplication application = new SpringApplicationBuilder(Configured.class).web(WebApplicationType.NONE)
            .build();
        IntStream.range(0, nodes).forEach((node) -> application.run(arguments));
        System.gc();
        long heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
        do {
            System.out.println("READY " + Cost.now(heap));
        }
        while (System.in.read() >= 0);
        // Other threads would keep the process alive.
        Runtime.getRuntime().halt(0);
    }

    /**
     * Holds what a JVM has used.
     *
     * @param cpuNanos of the process, since its start
     * @param handled messages
     * @param threads at present
     * @param heap bytes in use at the start
     */
    record Cost(long cpuNanos, long handled, int threads, long heap) {

        static Cost now(long heap) {
            OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
            return new Cost(system.getProcessCpuTime(), ScaleNodes.handled.sum(),
                    ManagementFactory.getThreadMXBean().getThreadCount(), heap);
        }

        static Cost of(String line) {
            String[] parts = line.split(" ");
            return new Cost(Long.parseLong(parts[1]), Long.parseLong(parts[2]), Integer.parseInt(parts[3]),
                    Long.parseLong(parts[4]));
        }

        @Override
        public String toString() {
            return this.cpuNanos + " " + this.handled + " " + this.threads + " " + this.heap;
        }

    }

    /** Handles the messages. */
    static final class Handler {

        @DelayedListener(queues = QUEUE)
        void handle(String payload) {
            handled.increment();
        }

    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Configured {

        @Bean
        Handler handler() {
            return new Handler();
        }

    }

}

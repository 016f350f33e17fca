package io.delayqueue.faults;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

import com.sun.management.UnixOperatingSystemMXBean;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.store.routing.DelayQueueStore;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/**
 * An application in a JVM of its own that sends and handles, and does what it is told on
 * standard input: {@code send on}, {@code send off}, {@code give <fate>}, {@code arm
 * <point>}, {@code go on}, {@code sample}, {@code stop}. Ends when standard input does,
 * so that it does not outlive its parent; see {@link NodeProcess}.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
public class Node {

    /** What it says when it is there. */
    static final String READY = "NODE READY";

    public static void main(String[] arguments) throws IOException {
        ConfigurableApplicationContext context = new SpringApplicationBuilder(Node.class).web(WebApplicationType.NONE)
            .registerShutdownHook(false)
            .run(arguments);
        Environment environment = context.getEnvironment();
        Workload workload = new Workload(context.getBean(DelayQueueOperations.class),
                context.getBean(HistoryFile.class), environment.getRequiredProperty("test.node"));
        workload.start(environment.getRequiredProperty("test.seed", Long.class),
                environment.getProperty("test.rate", Integer.class, 50), environment.getProperty("test.fates", ""));
        context.getBean(Taker.class).start();
        System.out.println(READY);
        try (BufferedReader reader = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            String line;
            while ((line = reader.readLine()) != null) {
                if (line.startsWith("send ")) {
                    workload.turn(line.endsWith("on"));
                    context.getBean(Taker.class).turn(line.endsWith("on"));
                }
                else if (line.startsWith("arm ")) {
                    context.getBean(Points.class).arm(line.substring(4));
                }
                else if (line.startsWith("give ")) {
                    workload.give(Job.Fate.valueOf(line.substring(5)));
                }
                else if (line.equals("go on")) {
                    context.getBean(NodeHandler.class).goOn();
                }
                else if (line.equals("sample")) {
                    sample(context.getBean(HistoryFile.class));
                }
                else if (line.equals("stop")) {
                    context.getBean(Taker.class).stop();
                    context.close();
                    System.exit(0);
                }
            }
        }
        Runtime.getRuntime().halt(2);
    }

    private static void sample(HistoryFile history) {
        // Twice, as what finalizers hold goes with the second.
        System.gc();
        System.gc();
        long files = (ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix)
                ? unix.getOpenFileDescriptorCount() : 0;
        history.write(Event.Kind.SAMPLE, "", 0, "heap",
                Long.toString(ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed()), "threads",
                Integer.toString(ManagementFactory.getThreadMXBean().getThreadCount()), "files", Long.toString(files));
    }

    @Bean
    HistoryFile history(Environment environment) {
        return new HistoryFile(Path.of(environment.getRequiredProperty("test.history")),
                environment.getRequiredProperty("test.node"),
                environment.getProperty("test.ahead-micros", Long.class, 0L));
    }

    @Bean
    Points points(HistoryFile history) {
        return new Points(history);
    }

    @Bean
    NodeHandler handler(HistoryFile history, Points points, Environment environment) {
        return new NodeHandler(history, points, slowMillis(environment));
    }

    @Bean
    Taker taker(DelayQueueOperations queue, HistoryFile history, Environment environment) {
        return new Taker(queue, history, slowMillis(environment));
    }

    private static long slowMillis(Environment environment) {
        return environment.getProperty("test.slow-millis", Long.class, 3000L);
    }

    @Bean
    static BeanPostProcessor recording(ObjectProvider<HistoryFile> history, ObjectProvider<Points> points) {
        return new BeanPostProcessor() {

            @Override
            public Object postProcessAfterInitialization(Object bean, String name) {
                if (bean instanceof DelayQueueStore ports) {
                    return new DelayQueueStore(
                            new RecordingStore(ports.messages(), history.getObject(), points.getObject()),
                            ports.inspector(), ports.wakeUps(), ports.partitions());
                }
                return bean;
            }

        };
    }

}

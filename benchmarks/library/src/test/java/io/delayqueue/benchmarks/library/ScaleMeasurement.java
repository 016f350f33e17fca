package io.delayqueue.benchmarks.library;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedMessage;
import io.delayqueue.benchmarks.library.ScaleNodes.Cost;
import io.delayqueue.fixtures.application.Applications;
import io.delayqueue.fixtures.application.ChildJvm;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisCluster;
import io.delayqueue.fixtures.redis.RedisServer;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Measures the cost of more partitions of a queue on a cluster of three masters, and of
 * more nodes that listen to one queue: at rest, with 20 messages a second, in a batch of
 * {@code -Ddq.messages}, and the memory of waiting messages. Prints counts and CPU time,
 * no rates: the servers, the sender and all nodes share a machine. Commands and the CPU
 * time of Redis include those of the sender. Run it by
 * {@code scripts/measure ScaleMeasurement}. The JVMs use the first compiler only.
 */
@Timeout(value = 1, unit = TimeUnit.HOURS)
class ScaleMeasurement {

    private static final int SECONDS = Integer.getInteger("dq.seconds", 30);

    private static final int MESSAGES = Integer.getInteger("dq.messages", 50_000);

    private static final Pattern CALLS = Pattern.compile("cmdstat_([^:]+):calls=(\\d+)");

    private static final Pattern CPU = Pattern.compile("used_cpu_(?:sys|user):([0-9.]+)");

    private static final Pattern MEMORY = Pattern.compile("used_memory:(\\d+)");

    @RegisterExtension
    final Applications applications = new Applications();

    @ParameterizedTest
    @ValueSource(ints = { 1, 3, 12 })
    void partitionsOfAQueueOnThreeMasters(int partitions) throws InterruptedException {
        try (RedisCluster cluster = RedisCluster.startWithoutFailover(RedisBinary.preferred())) {
            String[] properties = { "spring.data.redis.cluster.nodes=" + String.join(",", cluster.nodes()),
                    "delayqueue.queues.%s.partitions=%d".formatted(ScaleNodes.QUEUE, partitions) };
            DelayQueueOperations sender = this.applications.start(Applications.SenderConfiguration.class, properties)
                .queue();
            measure("Partitions: %d".formatted(partitions), new Scene(cluster.masters(), sender), 1, 1, properties);
            this.applications.close();
        }
    }

    @ParameterizedTest
    @CsvSource({ "1, 1", "4, 1", "4, 5", "4, 25" })
    void nodesOfOneQueue(int processes, int nodes) throws InterruptedException {
        try (RedisServer redis = RedisServer.start(RedisBinary.preferred())) {
            DelayQueueOperations sender = this.applications.withoutHandler(redis).queue();
            measure("Nodes: %d in %d JVMs".formatted(processes * nodes, processes), new Scene(List.of(redis), sender),
                    processes, nodes, Applications.at(redis.port()));
            this.applications.close();
        }
    }

    private void measure(String title, Scene scene, int processes, int nodes, String... properties)
            throws InterruptedException {
        String[] all = Stream
            .concat(Stream.of(properties),
                    Stream.of("delayqueue.namespace=" + this.applications.namespace(), ScaleNodes.NODES + "=" + nodes))
            .toArray(String[]::new);
        List<ChildJvm> children = new ArrayList<>();
        try {
            for (int i = 0; i < processes; i++) {
                children.add(ChildJvm.start("1g", ScaleNodes.class, all));
            }
            scene.measure(title, children);
        }
        finally {
            children.forEach(ChildJvm::close);
        }
    }

    private static void pass(Duration time) throws InterruptedException {
        // Real time: the length of the measurement, and the nodes are other processes.
        Thread.sleep(time.toMillis());
    }

    /** Measures one number of partitions or nodes. */
    private static final class Scene {

        private final List<RedisServer> servers;

        private final DelayQueueOperations sender;

        private long sent;

        Scene(List<RedisServer> servers, DelayQueueOperations sender) {
            this.servers = servers;
            this.sender = sender;
        }

        void measure(String title, List<ChildJvm> children) throws InterruptedException {
            List<Cost> started = costs(children, false);
            // Nodes subscribe, and one becomes the primary poller.
            pass(Duration.ofSeconds(6));
            List<Cost> rested = costs(children, true);
            System.out.printf("%s; for each JVM %d MiB of heap and %d threads; connections: %d%n", title,
                    most(started, Cost::heap) >> 20, most(rested, Cost::threads), connections());
            Usage before = usage(rested);
            pass(Duration.ofSeconds(SECONDS));
            print("at rest, for each second", before, usage(costs(children, true)), SECONDS);

            int paced = 20 * SECONDS;
            before = usage(costs(children, true));
            for (int i = 0; i < paced; i++) {
                this.sender.send(ScaleNodes.QUEUE, "paced", Duration.ofMillis(500));
                pass(Duration.ofMillis(50));
            }
            print("20 a second, for each message", before, handled(children, paced), paced);

            sendAll(Duration.ZERO, MESSAGES); // warm-up
            handled(children, MESSAGES);
            before = usage(costs(children, true));
            sendAll(Duration.ZERO, MESSAGES);
            print("a batch, for each message", before, handled(children, MESSAGES), MESSAGES);

            long memory = sum(this.servers, "memory", MEMORY);
            sendAll(Duration.ofHours(1), MESSAGES);
            System.out.printf("  %d bytes for each waiting message%n",
                    (sum(this.servers, "memory", MEMORY) - memory) / MESSAGES);
        }

        private void sendAll(Duration delay, int messages) {
            String payload = "x".repeat(80);
            for (int i = 0; i < messages; i += 1000) {
                this.sender.sendAll(IntStream.range(0, Math.min(1000, messages - i))
                    .mapToObj((n) -> DelayedMessage.builder(ScaleNodes.QUEUE, payload).delay(delay).build())
                    .toList());
            }
        }

        /** Waits until the nodes have handled further messages, each once. */
        private Usage handled(List<ChildJvm> children, int messages) throws InterruptedException {
            this.sent += messages;
            List<Cost> costs = costs(children, true);
            while (costs.stream().mapToLong(Cost::handled).sum() < this.sent) {
                pass(Duration.ofMillis(100));
                costs = costs(children, true);
            }
            assertThat(costs.stream().mapToLong(Cost::handled).sum()).isEqualTo(this.sent);
            pass(Duration.ofMillis(200)); // the last acknowledgements
            return usage(costs(children, true));
        }

        private static List<Cost> costs(List<ChildJvm> children, boolean ask) throws InterruptedException {
            try {
                for (ChildJvm child : children) {
                    if (ask) {
                        child.goOn();
                    }
                }
                Cost[] costs = new Cost[children.size()];
                for (int i = 0; i < costs.length; i++) {
                    costs[i] = Cost.of(children.get(i).next());
                }
                return List.of(costs);
            }
            catch (IOException ex) {
                throw new UncheckedIOException(ex);
            }
        }

        private static long most(List<Cost> costs, ToLongFunction<Cost> value) {
            return costs.stream().mapToLong(value).max().orElseThrow();
        }

        private long connections() {
            return sum(this.servers, "clients", Pattern.compile("connected_clients:(\\d+)"));
        }

        private Usage usage(List<Cost> costs) {
            long commands = 0;
            long scripts = 0;
            long published = 0;
            for (RedisServer server : this.servers) {
                Matcher calls = CALLS.matcher(server.commands().info("commandstats"));
                while (calls.find()) {
                    long number = Long.parseLong(calls.group(2));
                    switch (calls.group(1)) {
                        case "info" -> number = 0; // mostly of this measurement
                        case "evalsha" -> scripts += number;
                        case "publish", "spublish" -> published += number;
                        default -> {
                        }
                    }
                    commands += number;
                }
            }
            double redis = this.servers.stream()
                .flatMap((server) -> CPU.matcher(server.commands().info("cpu")).results())
                .mapToDouble((found) -> Double.parseDouble(found.group(1)))
                .sum();
            return new Usage(commands, scripts, published, redis * 1e6,
                    costs.stream().mapToLong(Cost::cpuNanos).sum() / 1e3);
        }

        private static long sum(List<RedisServer> servers, String section, Pattern value) {
            return servers.stream()
                .map((server) -> value.matcher(server.commands().info(section)))
                .filter(Matcher::find)
                .mapToLong((found) -> Long.parseLong(found.group(1)))
                .sum();
        }

        private static void print(String what, Usage before, Usage after, double number) {
            System.out.printf(
                    "  %-30s %8.2f commands, %7.2f scripts, %6.3f published, %8.1f µs of Redis, %8.1f µs of the nodes%n",
                    what, (after.commands() - before.commands()) / number,
                    (after.scripts() - before.scripts()) / number, (after.published() - before.published()) / number,
                    (after.redisMicros() - before.redisMicros()) / number,
                    (after.jvmMicros() - before.jvmMicros()) / number);
        }

    }

    /**
     * Holds what servers and nodes have used since their start.
     *
     * @param commands those inside scripts included
     * @param published wake-ups
     * @param jvmMicros without those of the sender
     */
    private record Usage(long commands, long scripts, long published, double redisMicros, double jvmMicros) {
    }

}

package io.delayqueue.depot;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import io.delayqueue.DelayedMessage;
import io.delayqueue.QueueStatistics;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.redis.TcpProxy;
import io.delayqueue.intake.Intake;
import io.delayqueue.intake.IntakeGroup;
import io.delayqueue.listener.DelayedListenerRegistry;
import io.delayqueue.listener.ListenerContainer;
import io.delayqueue.template.DelayQueueTemplate;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.context.ConfigurableApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Starts and stops the application under test, and a Redis for it. */
abstract class DepotTestBase {

    static final String QUEUE = "orders";

    static final Duration LIMIT = Duration.ofMinutes(1);

    /** The begin of the log line at the begin of an outage. */
    static final String AWAY = "Messages of queue 'orders' cannot be forwarded";

    /** A part of the log line at the end of an outage. */
    static final String BACK = "' again, after ";

    /** A part of the log line for each probe that fails, at debug level. */
    static final String STILL_AWAY = "' still cannot be forwarded to ";

    /** Logs the probes that fail. */
    static final String LOG_PROBES = "--logging.level.io.delayqueue.listener.handler=debug";

    static RedisServer redis;

    private final List<ConfigurableApplicationContext> contexts = new ArrayList<>();

    @BeforeAll
    static void startRedis() {
        redis = RedisServer.start(RedisBinary.preferred());
        // A thread of Spring AMQP may fail when a broker or an exchange goes away.
        Awaitility.doNotCatchUncaughtExceptionsByDefault();
    }

    @AfterAll
    static void stopRedis() {
        redis.close();
    }

    @AfterEach
    void stopApplications() {
        stopApplication();
        if (!redis.isAlive()) {
            redis.restart();
        }
        redis.commands().flushall();
    }

    void stopApplication() {
        this.contexts.forEach(ConfigurableApplicationContext::close);
        this.contexts.clear();
    }

    ConfigurableApplicationContext start(Class<?> application, String... settings) {
        List<String> arguments = new ArrayList<>(List.of("--spring.data.redis.port=" + redis.port(),
                "--spring.main.banner-mode=off", "--spring.main.web-application-type=none",
                "--logging.level.org.apache.kafka=error", "--logging.level.kafka=error"));
        arguments.addAll(List.of(settings));
        ConfigurableApplicationContext context = SpringApplication.run(application, arguments.toArray(String[]::new));
        this.contexts.add(context);
        return context;
    }

    /** Sends messages of several groups, which are due at once. */
    void sendGroups(int groups, int each) {
        List<DelayedMessage> messages = new ArrayList<>();
        for (int i = 0; i < each; i++) {
            for (int group = 0; group < groups; group++) {
                messages.add(DelayedMessage.builder(QUEUE, i)
                    .id(id(group, i))
                    .group("g" + group)
                    .dueAt(Instant.EPOCH.plusSeconds(i))
                    .build());
            }
        }
        queue().sendAll(messages);
    }

    /**
     * Asserts that ids of {@link #sendGroups} contain each message, in the order of its
     * group. A message may be there twice, and then possibly later.
     */
    static void assertGroups(List<String> ids, int groups, int size) {
        List<String> first = ids.stream().distinct().toList();
        for (int group = 0; group < groups; group++) {
            int each = group;
            assertThat(first).filteredOn((id) -> id.startsWith("g" + each + "-"))
                .containsExactlyElementsOf(IntStream.range(0, size).mapToObj((i) -> id(each, i)).toList());
        }
    }

    /** Returns an id; messages that are due at one time are in the order of ids. */
    private static String id(int group, int number) {
        return "g%d-%03d".formatted(group, number);
    }

    /** Asserts that the queue is empty, and that no message became a dead letter. */
    void assertAllForwarded() {
        await().atMost(LIMIT)
            .untilAsserted(() -> assertThat(queue().statistics(QUEUE))
                .isEqualTo(new QueueStatistics(QUEUE, 0, 0, 0, 0, null)));
    }

    /**
     * Asserts that forwarding continues with the first probe that begins after the return
     * of a broker. The waits between probes are ten seconds at most
     * ({@code HandlerAvailabilityTests}), so it continues within seconds.
     * @param broker leads to the broker, which is available
     */
    void assertBackWithTheNextProbe(TcpProxy broker, CapturedOutput output) {
        queue().send(QUEUE, "before");
        assertAllForwarded();
        broker.refuse();
        sendGroups(3, 3);
        await().atMost(LIMIT).until(() -> count(output, STILL_AWAY) >= 3);

        broker.pass();

        long failed = count(output, STILL_AWAY);
        long passed = System.nanoTime();
        assertAllForwarded();
        System.out.printf("Forwarding has continued %d ms after the return of the broker%n",
                Duration.ofNanos(System.nanoTime() - passed).toMillis());
        assertThat(count(output, STILL_AWAY) - failed).as("probes that failed, one of which may have begun before")
            .isLessThanOrEqualTo(1);
    }

    DelayQueueTemplate queue() {
        return this.contexts.get(0).getBean(DelayQueueTemplate.class);
    }

    /** Returns the listener that forwards the messages. */
    ListenerContainer listener() {
        return this.contexts.get(0).getBean(DelayedListenerRegistry.class).require("forward." + QUEUE);
    }

    /** Returns the only intake. */
    Intake intake() {
        return this.contexts.get(0)
            .getBeanProvider(IntakeGroup.class)
            .stream()
            .flatMap((group) -> group.intakes().stream())
            .findFirst()
            .orElseThrow();
    }

    static long count(CapturedOutput output, String line) {
        return output.getAll().lines().filter((each) -> each.contains(line)).count();
    }

}

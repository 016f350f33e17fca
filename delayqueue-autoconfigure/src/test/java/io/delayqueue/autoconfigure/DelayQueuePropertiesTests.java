package io.delayqueue.autoconfigure;

import java.time.Duration;
import java.util.Map;
import java.util.Set;

import io.delayqueue.QueueName;
import io.delayqueue.consume.ConsumeSettings;
import io.delayqueue.fixtures.application.StartupFailures;
import io.delayqueue.listener.poll.BackoffPolicy;
import io.delayqueue.listener.poll.HandlerExecution;
import io.delayqueue.listener.poll.ListenerSettings;
import io.delayqueue.listener.poll.SharedListenerSettings;
import io.delayqueue.store.ExpiryPolicy;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests the binding of the configuration, and the rejection of invalid values. */
class DelayQueuePropertiesTests {

    private static final QueueName ORDERS = new QueueName("orders");

    private final ApplicationContextRunner application = new ApplicationContextRunner().withConfiguration(
            AutoConfigurations.of(DelayQueueAutoConfiguration.class, DelayQueueListenerAutoConfiguration.class));

    private static DelayQueueProperties bind(Map<String, String> values) {
        return new Binder(new MapConfigurationPropertySource(values)).bindOrCreate("delayqueue",
                DelayQueueProperties.class);
    }

    @Test
    void settingsOfAQueueWithoutConfiguration() {
        DelayQueueProperties properties = bind(Map.of());

        assertThat(properties.listenerSettings(ORDERS)).isEqualTo(new ListenerSettings(10, Duration.ofSeconds(30), null,
                5, 3, new BackoffPolicy(Duration.ofSeconds(1), 2, Duration.ofMinutes(10), 0.2), ExpiryPolicy.DROP, true,
                Set.of()));
        assertThat(properties.consumeSettings(ORDERS)).usingRecursiveComparison()
            .ignoringFields("backoff")
            .isEqualTo(new ConsumeSettings(Duration.ofSeconds(30), 5, 3, ExpiryPolicy.DROP, Duration.ofSeconds(5),
                    (failures) -> Duration.ZERO));
        assertThat(properties.workerSettings(true, HandlerExecution.DEFAULT)).isEqualTo(new SharedListenerSettings(
                Duration.ofSeconds(20), Duration.ofSeconds(5), Duration.ofDays(30), true, HandlerExecution.DEFAULT));
    }

    @Test
    void settingsOfAllListenersReachEveryQueue() {
        DelayQueueProperties properties = bind(Map.ofEntries(Map.entry("delayqueue.listener.concurrency", "3"),
                Map.entry("delayqueue.listener.lease", "1m"), Map.entry("delayqueue.listener.timeout", "2m"),
                Map.entry("delayqueue.listener.max-attempts", "7"), Map.entry("delayqueue.listener.max-lapses", "2"),
                Map.entry("delayqueue.listener.expiry-policy", "dead-letter"),
                Map.entry("delayqueue.listener.auto-startup", "false"),
                Map.entry("delayqueue.listener.shutdown-timeout", "9s"),
                Map.entry("delayqueue.listener.backoff.initial", "2s"),
                Map.entry("delayqueue.listener.backoff.multiplier", "3"),
                Map.entry("delayqueue.listener.backoff.max", "4m"),
                Map.entry("delayqueue.listener.backoff.jitter", "0"), Map.entry("delayqueue.safety-poll", "1s"),
                Map.entry("delayqueue.dead-letters.retention", "0")));

        assertThat(properties.listenerSettings(ORDERS)).isEqualTo(new ListenerSettings(3, Duration.ofMinutes(1),
                Duration.ofMinutes(2), 7, 2, new BackoffPolicy(Duration.ofSeconds(2), 3, Duration.ofMinutes(4), 0),
                ExpiryPolicy.DEAD_LETTER, false, Set.of()));
        assertThat(properties.consumeSettings(ORDERS)).usingRecursiveComparison()
            .ignoringFields("backoff")
            .isEqualTo(new ConsumeSettings(Duration.ofMinutes(1), 7, 2, ExpiryPolicy.DEAD_LETTER, Duration.ofSeconds(1),
                    (failures) -> Duration.ZERO));
        assertThat(properties.workerSettings(false, HandlerExecution.DEFAULT)).isEqualTo(new SharedListenerSettings(
                Duration.ofSeconds(9), Duration.ofSeconds(1), null, false, HandlerExecution.DEFAULT));
    }

    @Test
    void settingsOfAQueueTakePrecedence() {
        DelayQueueProperties properties = bind(Map.ofEntries(Map.entry("delayqueue.listener.concurrency", "3"),
                Map.entry("delayqueue.queues.orders.concurrency", "4"),
                Map.entry("delayqueue.queues.orders.lease", "1m"), Map.entry("delayqueue.queues.orders.timeout", "2m"),
                Map.entry("delayqueue.queues.orders.max-attempts", "7"),
                Map.entry("delayqueue.queues.orders.max-lapses", "2"),
                Map.entry("delayqueue.queues.orders.expiry-policy", "dead-letter"),
                Map.entry("delayqueue.queues.orders.auto-startup", "false"),
                Map.entry("delayqueue.queues.orders.backoff.initial", "2s"),
                Map.entry("delayqueue.queues.orders.backoff.multiplier", "3"),
                Map.entry("delayqueue.queues.orders.backoff.max", "4m"),
                Map.entry("delayqueue.queues.orders.backoff.jitter", "0")));

        assertThat(properties.listenerSettings(ORDERS)).isEqualTo(new ListenerSettings(4, Duration.ofMinutes(1),
                Duration.ofMinutes(2), 7, 2, new BackoffPolicy(Duration.ofSeconds(2), 3, Duration.ofMinutes(4), 0),
                ExpiryPolicy.DEAD_LETTER, false, Set.of()));
        assertThat(properties.listenerSettings(new QueueName("other")))
            .isEqualTo(bind(Map.of("delayqueue.listener.concurrency", "3")).listenerSettings(ORDERS));
    }

    @Test
    void aQueueThatSetsOneValueTakesTheOthersFromAllListeners() {
        DelayQueueProperties properties = bind(
                Map.of("delayqueue.listener.lease", "1m", "delayqueue.listener.backoff.initial", "3s",
                        "delayqueue.queues.orders.max-attempts", "1", "delayqueue.queues.orders.backoff.jitter", "1"));

        ListenerSettings settings = properties.listenerSettings(ORDERS);

        assertThat(settings.lease()).isEqualTo(Duration.ofMinutes(1));
        assertThat(settings.maxAttempts()).isOne();
        assertThat(settings.backoff())
            .isEqualTo(new BackoffPolicy(Duration.ofSeconds(3), 2, Duration.ofMinutes(10), 1));
    }

    @Test
    void zeroDisablesTheTimeoutForOneQueue() {
        DelayQueueProperties properties = bind(
                Map.of("delayqueue.listener.timeout", "1m", "delayqueue.queues.orders.timeout", "0"));

        assertThat(properties.listenerSettings(ORDERS).timeout()).isNull();
        assertThat(properties.listenerSettings(new QueueName("other")).timeout()).isEqualTo(Duration.ofMinutes(1));
    }

    @Test
    void aQueueHasPartitionsIfConfigured() {
        DelayQueueProperties properties = bind(Map.of("delayqueue.queues.orders.partitions", "256"));

        assertThat(properties.partitions(ORDERS)).isEqualTo(256);
        assertThat(properties.partitions(new QueueName("other"))).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = { "0", "257", "-1" })
    void partitionsOutOfRangeAreRejected(String partitions) {
        assertThatThrownBy(() -> bind(Map.of("delayqueue.queues.orders.partitions", partitions))).rootCause()
            .hasMessageContaining("delayqueue.queues.orders.partitions");
    }

    @Test
    void anEmptyValueIsTheDefault() {
        DelayQueueProperties properties = bind(Map.of("delayqueue.store", "", "delayqueue.command-timeout", "",
                "delayqueue.max-payload-size", "", "delayqueue.listener.lease", "", "delayqueue.wakeup", "",
                "delayqueue.queues.orders.lease", ""));

        assertThat(properties).isEqualTo(bind(Map.of("delayqueue.queues.orders.max-lapses", "")));
        assertThat(properties.listenerSettings(ORDERS)).isEqualTo(bind(Map.of()).listenerSettings(ORDERS));
    }

    @ParameterizedTest
    @ValueSource(strings = { "orderTimeout", "ORDERS", "order_timeout", "order-timeout", "v2", "2" })
    void aQueueNameWithoutADotNeedsNoBrackets(String name) {
        this.application.withPropertyValues("delayqueue.store=memory", "delayqueue.queues." + name + ".lease=7s")
            .run((context) -> assertThat(
                    context.getBean(DelayQueueProperties.class).listenerSettings(new QueueName(name)).lease())
                .isEqualTo(Duration.ofSeconds(7)));
    }

    @ParameterizedTest
    @ValueSource(strings = { "a.b", "Orders", "order_timeout", "a-b", "1.0" })
    void aQueueOfAnyNameIsConfiguredInBrackets(String name) {
        DelayQueueProperties properties = bind(Map.of("delayqueue.queues[" + name + "].lease", "7s"));

        assertThat(properties.listenerSettings(new QueueName(name)).lease()).isEqualTo(Duration.ofSeconds(7));
    }

    @ParameterizedTest
    @CsvSource(quoteCharacter = '"', delimiter = '|',
            textBlock = """
                    delayqueue.namespace                        | a{b}      | delayqueue.namespace: namespace 'a{b}' is not valid: use 1 to 64 characters of A-Z, a-z, 0-9, '.', '_', ':' and '-', beginning with a letter or a digit
                    delayqueue.namespace                        | :a        | delayqueue.namespace: namespace ':a' is not valid: use 1 to 64 characters of A-Z, a-z, 0-9, '.', '_', ':' and '-', beginning with a letter or a digit
                    delayqueue.command-timeout                  | 99ms      | delayqueue.command-timeout must be 100ms to 1h, but was 99 ms
                    delayqueue.command-timeout                  | 61m       | delayqueue.command-timeout must be 100ms to 1h, but was 1 h 1 min
                    delayqueue.command-timeout                  | -5s       | delayqueue.command-timeout must be 100ms to 1h, but was -5 s
                    delayqueue.safety-poll                      | 99ms      | delayqueue.safety-poll must be 100ms to 1h, but was 99 ms
                    delayqueue.safety-poll                      | 61m       | delayqueue.safety-poll must be 100ms to 1h, but was 1 h 1 min
                    delayqueue.max-payload-size                 | 0         | delayqueue.max-payload-size must be 1B to 16MB, but was 0B
                    delayqueue.max-payload-size                 | 17MB      | delayqueue.max-payload-size must be 1B to 16MB, but was 17825792B
                    delayqueue.dead-letters.retention           | -1d       | delayqueue.dead-letters.retention must be zero to 36500 days, but was -1 d
                    delayqueue.dead-letters.retention           | 36501d    | delayqueue.dead-letters.retention must be zero to 36500 days, but was 36501 d
                    delayqueue.durability.wait-replicas         | -1        | delayqueue.durability.wait-replicas must be 0 to 100, but was -1
                    delayqueue.durability.wait-replicas         | 101       | delayqueue.durability.wait-replicas must be 0 to 100, but was 101
                    delayqueue.durability.wait-replicas         | 1         | delayqueue.durability.wait-replicas must be 0 with delayqueue.store 'memory', which has no replicas, but was 1
                    delayqueue.max-reconnect-delay              | 9ms       | delayqueue.max-reconnect-delay must be 0, or 10ms to 1h, but was 9 ms
                    delayqueue.max-reconnect-delay              | 61m       | delayqueue.max-reconnect-delay must be 0, or 10ms to 1h, but was 1 h 1 min
                    delayqueue.listener.concurrency             | 0         | delayqueue.listener.concurrency must be 1 to 10000, but was 0
                    delayqueue.listener.concurrency             | 10001     | delayqueue.listener.concurrency must be 1 to 10000, but was 10001
                    delayqueue.listener.lease                   | 999ms     | delayqueue.listener.lease must be at least 1s and at most 36500 days, but was 999 ms
                    delayqueue.listener.timeout                 | -1s       | delayqueue.listener.timeout must be more than zero and at most 36500 days, but was -1 s
                    delayqueue.listener.max-attempts            | 0         | delayqueue.listener.max-attempts must be at least 1, but was 0
                    delayqueue.listener.max-lapses              | 0         | delayqueue.listener.max-lapses must be at least 1, but was 0
                    delayqueue.listener.shutdown-timeout        | -1s       | delayqueue.listener.shutdown-timeout must be zero to 36500 days, but was -1 s
                    delayqueue.listener.backoff.initial         | -1s       | delayqueue.listener.backoff.initial must be zero to 36500 days, but was -1 s
                    delayqueue.listener.backoff.multiplier      | 0.9       | delayqueue.listener.backoff.multiplier must be at least 1, but was 0.9
                    delayqueue.listener.backoff.multiplier      | NaN       | delayqueue.listener.backoff.multiplier must be at least 1, but was NaN
                    delayqueue.listener.backoff.max             | 999ms     | delayqueue.listener.backoff.max must be at least backoff.initial (1 s) and at most 36500 days, but was 999 ms
                    delayqueue.listener.backoff.jitter          | 1.1       | delayqueue.listener.backoff.jitter must be 0 to 1, but was 1.1
                    delayqueue.queues.orders.concurrency        | 0         | delayqueue.queues.orders.concurrency must be 1 to 10000, but was 0
                    delayqueue.queues.orders.lease              | 999ms     | delayqueue.queues.orders.lease must be at least 1s and at most 36500 days, but was 999 ms
                    delayqueue.queues.orders.timeout            | -1s       | delayqueue.queues.orders.timeout must be more than zero and at most 36500 days, but was -1 s
                    delayqueue.queues.orders.max-attempts       | 0         | delayqueue.queues.orders.max-attempts must be at least 1, but was 0
                    delayqueue.queues.orders.max-lapses         | 0         | delayqueue.queues.orders.max-lapses must be at least 1, but was 0
                    delayqueue.queues.orders.backoff.initial    | 11m       | delayqueue.queues.orders.backoff.max must be at least backoff.initial (11 min) and at most 36500 days, but was 10 min
                    delayqueue.queues.orders.backoff.multiplier | 0         | delayqueue.queues.orders.backoff.multiplier must be at least 1, but was 0.0
                    delayqueue.queues.orders.backoff.max        | 0         | delayqueue.queues.orders.backoff.max must be at least backoff.initial (1 s) and at most 36500 days, but was 0 s
                    delayqueue.queues.orders.backoff.jitter     | -1        | delayqueue.queues.orders.backoff.jitter must be 0 to 1, but was -1.0
                    delayqueue.queues[a.B].lease                | 0         | delayqueue.queues[a.B].lease must be at least 1s and at most 36500 days, but was 0 s
                    delayqueue.forward.orders.timeout           | 99ms      | delayqueue.forward.orders.timeout must be 100ms to 1h, but was 99 ms
                    delayqueue.forward[a.B].timeout             | 61m       | delayqueue.forward[a.B].timeout must be 100ms to 1h, but was 1 h 1 min
                    delayqueue.queues[a b].lease                | 2s        | delayqueue.queues: queue name 'a b' is not valid: use 1 to 64 characters of A-Z, a-z, 0-9, '.', '_' and '-', beginning with a letter or a digit
                    """)
    void invalidValueFailsTheStart(String property, String value, String reason) {
        this.application.withPropertyValues("delayqueue.store=memory", property + "=" + value)
            .run((context) -> assertThat(StartupFailures.of(context.getStartupFailure()).getDescription())
                .endsWith(": " + reason));
    }

    @ParameterizedTest
    @ValueSource(strings = { "0", "2501ms" })
    void timeForReplicasIsShorterThanTheTimeForAnAnswer(String timeout) {
        this.application
            .withPropertyValues("delayqueue.durability.wait-replicas=1",
                    "delayqueue.durability.wait-timeout=" + timeout)
            .run((context) -> assertThat(StartupFailures.of(context.getStartupFailure()).getDescription()).contains(
                    "delayqueue.durability.wait-timeout must be 1ms to half of delayqueue.command-timeout (5 s)"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            delayqueue.store                   | rediss
            delayqueue.wakeup                  | push
            delayqueue.command-timeout         | soon
            delayqueue.max-payload-size        | big
            delayqueue.send.after-commit       | perhaps
            delayqueue.listener.expiry-policy        | keep
            delayqueue.listener.concurrency    | ten
            delayqueue.listener.auto-startup   | maybe
            delayqueue.queues.orders.lease     | long
            delayqueue.queues.orders.expiry-policy   | keep
            """)
    void valueOfAnotherTypeFailsTheStart(String property, String value) {
        this.application.withPropertyValues(property + "=" + value)
            .run((context) -> assertThat(StartupFailures.of(context.getStartupFailure()).getDescription())
                .contains("Property: " + property, "Value: \"" + value + "\""));
    }

}

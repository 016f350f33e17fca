package io.delayqueue.web.dashboard;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

import io.delayqueue.QueueName;
import io.delayqueue.admin.ListenerOverride;
import io.delayqueue.admin.NodeStatus;
import io.delayqueue.admin.NodeStatus.QueueStatus;
import io.delayqueue.admin.NodeStatus.RunningHandler;
import io.delayqueue.admin.NodeStatus.RunningHandlers;
import io.delayqueue.admin.QueueOverview;
import io.delayqueue.admin.QueueOverviews;
import io.delayqueue.journal.JournalStatus;
import io.delayqueue.store.RemoteConsumerQueues;
import io.delayqueue.store.ServerIssue;
import io.delayqueue.web.dashboard.Alert.Severity;
import io.delayqueue.web.dashboard.AlertEvaluator.Moment;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

class AlertEvaluatorTests {

    private static final Instant START = Instant.parse("2030-01-01T00:00:00Z");

    private final AtomicLong now = new AtomicLong();

    private final RemoteConsumerQueues consumed = new RemoteConsumerQueues(10, this.now::get);

    private final AlertEvaluator finder = new AlertEvaluator(this.consumed, null);

    private static QueueOverview queue(@Nullable Duration oldest, long leased, long dead, boolean paused) {
        return new QueueOverview("orders", 1, 10, (oldest != null) ? 5 : 0, 0, leased, 0, dead, null, oldest, paused,
                null, START);
    }

    private static NodeStatus node(boolean running, boolean paused) {
        return new NodeStatus(
                "n", "shop", "host", 1, null, START, START, List.of(new NodeStatus.ListenerStatus("l",
                        List.of("orders"), 10, 10, running, paused, null, 0, 0, List.of())),
                NodeStatus.RunningHandlers.NONE, List.of());
    }

    private static Moment after(Duration elapsed, Duration jump) {
        return new Moment(START.plus(elapsed).plus(jump), elapsed.toNanos(), elapsed.toNanos());
    }

    private List<Alert> find(QueueOverview queue, NodeStatus... nodes) {
        return find(List.of(queue), List.of(nodes), List.of(), after(Duration.ZERO, Duration.ZERO));
    }

    private List<Alert> find(List<QueueOverview> queues, List<NodeStatus> nodes, List<ServerIssue> faults,
            AlertEvaluator.Moment moment) {
        return this.finder.find(new QueueOverviews(queues, Map.of()), nodes, faults, moment);
    }

    @Test
    void doesNotAlertForAHealthyQueue() {
        assertThat(find(queue(Duration.ofSeconds(1), 2, 0, false), node(true, false))).isEmpty();
        assertThat(find(queue(null, 0, 0, false))).as("no listener is needed while nothing is due").isEmpty();
    }

    @Test
    void alertsOfDueMessagesWithoutAConsumer() {
        QueueOverview due = queue(Duration.ofSeconds(11), 0, 0, false);
        String title = "The queue has no consumer";
        assertThat(find(due)).singleElement().satisfies((trouble) -> {
            assertThat(trouble.title()).isEqualTo(title);
            assertThat(trouble.severity()).isEqualTo(Severity.ERROR);
            assertThat(trouble.queue()).isEqualTo("orders");
        });
        assertThat(find(due, node(true, true))).extracting(Alert::title).containsExactly(title);
        assertThat(find(due, node(false, false))).extracting(Alert::title).containsExactly(title);
        assertThat(find(due, node(true, false))).isEmpty();
    }

    /** Operators see that a node hangs before they search for it. */
    @Test
    void alertsOfOverdueHandlersWithTheLongestOfAllNodes() {
        assertThat(find(queue(null, 1, 0, false), hanging("one", 90, false))).isEmpty();

        assertThat(find(queue(null, 3, 0, false), hanging("one", 90, true), hanging("two", 300, true))).singleElement()
            .satisfies((alert) -> {
                assertThat(alert.severity()).isEqualTo(Severity.WARNING);
                assertThat(alert.title()).isEqualTo("Handlers are overdue");
                assertThat(alert.queue()).isEqualTo("orders");
                assertThat(alert.detail()).isEqualTo(
                        "Overdue handlers: 2, the longest for 5 min on node two:1 of 'shop', with message 'm-two'.");
            });
    }

    /** A node lists 20 handlers, and as many as fit. */
    @Test
    void saysThatMoreHandlersMayBeOverdueThanNodesList() {
        RunningHandler listed = new RunningHandler("l", "orders", "m", 1, 1, Duration.ofMinutes(5), true);
        NodeStatus node = new NodeStatus("n", "shop", "host", 1, null, START, START, List.of(),
                new RunningHandlers(400, 400, List.of(listed, listed)), List.of());

        assertThat(find(queue(null, 400, 0, false), node, hanging("two", 90, true))).singleElement()
            .satisfies((alert) -> assertThat(alert.detail()).startsWith("Overdue handlers: at least 3, the longest"));
    }

    private static NodeStatus hanging(String host, long seconds, boolean overdue) {
        RunningHandler handler = new RunningHandler("l", "orders", "m-" + host, 1, 1, Duration.ofSeconds(seconds),
                overdue);
        return new NodeStatus(host, "shop", host, 1, null, START, START, List.of(),
                new RunningHandlers(1, overdue ? 1 : 0, List.of(handler)), List.of());
    }

    @Test
    void aListenerThatIsPausedByAnOverrideIsNoConsumer() {
        ListenerOverride pause = new ListenerOverride("l", "orders", null, true, "alice", START, START.plusSeconds(60));
        NodeStatus paused = new NodeStatus(
                "n", "shop", "host", 1, null, START, START, List.of(
                        new NodeStatus.ListenerStatus("l", List.of("other", "orders"), 10, 10, true, false, null, 0, 0,
                                List.of(new QueueStatus("other", 10, 10, 5, null),
                                        new QueueStatus("orders", 10, 10, 5, pause)))),
                RunningHandlers.NONE, List.of());

        assertThat(find(queue(Duration.ofSeconds(11), 0, 0, false), paused)).extracting(Alert::title)
            .containsExactly("The queue has no consumer");
    }

    /** More handlers would not help. */
    @Test
    void alertsOfAQueueThatWaitsForABroker() {
        NodeStatus waiting = new NodeStatus("n", "shop", "host", 1, null, START, START,
                List.of(new NodeStatus.ListenerStatus("forward.orders", List.of("orders"), 10, 10, true, false,
                        "Messages of queue 'orders' cannot be forwarded to 'kafka:orders' for 2 min", 0, 0, List.of())),
                NodeStatus.RunningHandlers.NONE, List.of());

        assertThat(find(queue(Duration.ofMinutes(2), 0, 0, false), waiting)).singleElement().satisfies((alert) -> {
            assertThat(alert.severity()).isEqualTo(Severity.ERROR);
            assertThat(alert.title()).isEqualTo("The queue waits for another system");
            assertThat(alert.queue()).isEqualTo("orders");
            assertThat(alert.detail()).isEqualTo("Node host:1 of 'shop' reports: Messages of queue 'orders' cannot be "
                    + "forwarded to 'kafka:orders' for 2 min. Due messages: 5, the oldest for 2 min.");
        });
        assertThat(find(queue(null, 0, 0, false), waiting)).extracting(Alert::severity)
            .containsExactly(Severity.WARNING);
        assertThat(find(queue(Duration.ofMinutes(2), 0, 0, true), waiting)).extracting(Alert::title)
            .containsExactly("The queue is paused");
    }

    /** Its messages wait in the broker, so the counts of the queue do not show them. */
    @Test
    void alertsOfAnIntakeThatSchedulesNothing() {
        NodeStatus.IntakeStatus works = new NodeStatus.IntakeStatus("kafka:later", "orders", true, null, 7, 0, 0, 0);
        NodeStatus.IntakeStatus fails = new NodeStatus.IntakeStatus("kafka:later", "orders", true,
                "nothing has been scheduled for 2 min: Kafka rejects the consumer", 7, 0, 0, 0);
        assertThat(find(queue(null, 0, 0, false), reading("one", works))).isEmpty();

        assertThat(
                find(queue(null, 0, 0, false), reading("one", works), reading("two", fails), reading("three", fails)))
            .singleElement()
            .satisfies((alert) -> {
                assertThat(alert.severity()).isEqualTo(Severity.WARNING);
                assertThat(alert.title()).isEqualTo("An intake schedules nothing");
                assertThat(alert.queue()).isEqualTo("orders");
                assertThat(alert.detail()).isEqualTo("Node two:1 of 'shop' reports of 'kafka:later': nothing has been "
                        + "scheduled for 2 min: Kafka rejects the consumer.");
            });
    }

    /** Requests wait in the database meanwhile, where no page of a queue shows them. */
    @Test
    void alertsOfTheProblemsOfTheJournal() {
        JournalStatus journal = mock();
        AlertEvaluator evaluator = new AlertEvaluator(this.consumed, journal);
        given(journal.problems()).willReturn(List.of("Rows have not been compared with Redis for 2 min"));
        given(journal.restoring()).willReturn(Set.of("orders"));

        List<Alert> alerts = evaluator.find(new QueueOverviews(List.of(queue(null, 0, 0, false)), Map.of()), List.of(),
                List.of(), after(Duration.ZERO, Duration.ZERO));

        assertThat(alerts).extracting(Alert::severity, Alert::title, Alert::queue)
            .containsExactly(tuple(Severity.ERROR, "The journal needs attention", null),
                    tuple(Severity.INFO, "The queue is compared with its journal", "orders"));
        assertThat(alerts.get(0).detail()).contains("have not been compared with Redis for 2 min.");
    }

    private static NodeStatus reading(String host, NodeStatus.IntakeStatus intake) {
        return new NodeStatus(host, "shop", host, 1, null, START, START, List.of(), RunningHandlers.NONE,
                List.of(intake));
    }

    @Test
    void doesNotAlertForAQueueConsumedOverHttp() {
        QueueOverview due = queue(Duration.ofSeconds(11), 0, 0, false);
        this.consumed.record(new QueueName("orders"));
        this.now.addAndGet(Duration.ofMinutes(10).toNanos());
        assertThat(find(due)).isEmpty();
        assertThat(find(queue(Duration.ofMinutes(1), 0, 0, false))).extracting(Alert::title)
            .containsExactly("The queue is behind");

        this.now.incrementAndGet();
        assertThat(find(due)).extracting(Alert::title).containsExactly("The queue has no consumer");
        assertThat(find(queue(Duration.ofSeconds(11), 1, 0, false))).as("of which somebody elsewhere has one")
            .isEmpty();
    }

    @Test
    void alertsOfAQueueThatIsBehind() {
        assertThat(find(queue(Duration.ofMinutes(1), 10, 0, false), node(true, false))).singleElement()
            .satisfies((trouble) -> {
                assertThat(trouble.title()).isEqualTo("The queue is behind");
                assertThat(trouble.severity()).isEqualTo(Severity.WARNING);
            });
        assertThat(find(queue(Duration.ofMinutes(1), 0, 0, false), node(true, false))).extracting(Alert::severity)
            .containsExactly(Severity.ERROR);
    }

    @Test
    void writesDurationsInTheirTwoLargestUnits() {
        Map.of(Duration.ofMillis(108_900), "for 1 min 48 s.", Duration.ofMinutes(2), "for 2 min.",
                Duration.ofSeconds(7_205), "for 2 h.", Duration.ofMinutes(3_000), "for 2 d 2 h.")
            .forEach((oldest, words) -> assertThat(find(queue(oldest, 1, 0, false))).singleElement()
                .satisfies((trouble) -> assertThat(trouble.detail()).contains(words)));
    }

    @Test
    void alertsOfAPausedQueueInsteadOfItsBacklog() {
        assertThat(find(queue(Duration.ofHours(1), 0, 0, true))).extracting(Alert::title)
            .containsExactly("The queue is paused");
    }

    @Test
    void distinguishesGrowingFromStaleDeadLetters() {
        assertThat(find(queue(null, 0, 3, false))).extracting(Alert::severity).containsExactly(Severity.INFO);
        assertThat(find(List.of(queue(null, 0, 4, false)), List.of(), List.of(),
                after(Duration.ofMinutes(1), Duration.ZERO)))
            .extracting(Alert::title)
            .containsExactly("Dead letters are growing");
        find(List.of(queue(null, 0, 4, false)), List.of(), List.of(), after(Duration.ofMinutes(10), Duration.ZERO));
        assertThat(find(List.of(queue(null, 0, 4, false)), List.of(), List.of(),
                after(Duration.ofMinutes(25), Duration.ZERO)))
            .extracting(Alert::severity)
            .containsExactly(Severity.INFO);
    }

    /** Its server was away when the sample was taken. */
    @Test
    void deadLettersOfAQueueThatCouldNotBeReadDoNotGrow() {
        find(List.of(), List.of(), List.of(), after(Duration.ZERO, Duration.ZERO));

        assertThat(find(List.of(queue(null, 0, 3000, false)), List.of(), List.of(),
                after(Duration.ofMinutes(1), Duration.ZERO)))
            .extracting(Alert::severity)
            .containsExactly(Severity.INFO);
    }

    @Test
    void alertsOfAClockJumpForTenMinutes() {
        QueueOverview well = queue(null, 0, 0, false);
        find(well);
        assertThat(find(List.of(well), List.of(), List.of(), after(Duration.ofSeconds(5), Duration.ofHours(3))))
            .singleElement()
            .satisfies((trouble) -> assertThat(trouble.detail()).contains("ahead by about 3 h within"));
        assertThat(find(List.of(well), List.of(), List.of(), after(Duration.ofMinutes(9), Duration.ofHours(3))))
            .hasSize(1);
        assertThat(find(List.of(well), List.of(), List.of(), after(Duration.ofMinutes(11), Duration.ofHours(3))))
            .isEmpty();
    }

    @Test
    void distinguishesABackwardJumpFromALateReply() {
        QueueOverview well = queue(null, 0, 0, false);
        find(well);
        Moment late = new Moment(START.plusSeconds(1), Duration.ofSeconds(1).toNanos(),
                Duration.ofSeconds(20).toNanos());
        assertThat(find(List.of(well), List.of(), List.of(), late)).isEmpty();
        assertThat(find(List.of(well), List.of(), List.of(), after(Duration.ofSeconds(25), Duration.ofMinutes(-5))))
            .singleElement()
            .satisfies((trouble) -> assertThat(trouble.detail()).contains("back by about 4 min"));
    }

    @ParameterizedTest
    @EnumSource
    void describesEachServerIssueAndItsFix(ServerIssue.Kind kind) {
        ServerIssue fault = new ServerIssue(kind, "10.0.0.7:6379", "allkeys-lru");
        assertThat(find(List.of(), List.of(), List.of(fault), after(Duration.ZERO, Duration.ZERO))).singleElement()
            .satisfies((trouble) -> {
                assertThat(trouble.detail()).startsWith("Redis at 10.0.0.7:6379 ");
                assertThat(trouble.detail().contains("allkeys-lru")).isEqualTo(kind != ServerIssue.Kind.PUBLISH_DENIED);
                assertThat(trouble.action()).isNotEmpty();
                assertThat(trouble.severity()).isNotEqualTo(Severity.INFO);
            });
    }

}

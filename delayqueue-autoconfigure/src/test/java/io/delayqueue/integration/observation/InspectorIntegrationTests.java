package io.delayqueue.integration.observation;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;

import io.delayqueue.DelayedMessage;
import io.delayqueue.MessageSummary;
import io.delayqueue.ScheduleDefinition;
import io.delayqueue.admin.DelayQueueInspector;
import io.delayqueue.admin.DueForecast;
import io.delayqueue.admin.IdSearchPage;
import io.delayqueue.admin.MessagePage;
import io.delayqueue.admin.MessageScanPage;
import io.delayqueue.admin.MessageSelection;
import io.delayqueue.admin.NodeStatus;
import io.delayqueue.admin.QueueOverview;
import io.delayqueue.admin.QueuePage;
import io.delayqueue.admin.ScanSelection;
import io.delayqueue.fixtures.application.Application;
import io.delayqueue.fixtures.application.Applications;
import io.delayqueue.fixtures.application.OrderHandler.Order;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** P10: what an operator sees of queues, in all their partitions, on a real Redis. */
@Tag("server")
class InspectorIntegrationTests {

    private static final Duration FAR = Duration.ofHours(2);

    private static final Instant DUE = Instant.parse("2100-01-01T00:00:00Z");

    private final RedisServer redis = RedisServer.shared(RedisBinary.preferred());

    @RegisterExtension
    final Applications applications = new Applications().examined();

    private final Application sender = this.applications.withoutHandler(this.redis);

    private final DelayQueueInspector inspector = this.sender.context().getBean(DelayQueueInspector.class);

    private static List<DelayedMessage> messages(String queue, int count, Duration delay) {
        return IntStream.range(0, count)
            .mapToObj((number) -> DelayedMessage.builder(queue, new Order(number)).delay(delay).build())
            .toList();
    }

    @Test
    void queuesAreListedOnceTheyAreUsedUntilTheyAreForgotten() {
        for (int i = 0; i < 25; i++) {
            this.sender.queue().sendAll(messages("queue-" + (10 + i), 1, FAR));
        }
        Application listener = this.applications.withHandler(this.redis);
        Applications.await(() -> assertThat(this.inspector.queues(null, 100).queues()).hasSize(26));

        List<String> names = new ArrayList<>();
        QueuePage page = this.inspector.queues(null, 10);
        names.addAll(page.queues());
        while (page.nextCursor() != null) {
            page = this.inspector.queues(page.nextCursor(), 10);
            names.addAll(page.queues());
        }
        assertThat(names).hasSize(26).isSorted().contains("orders", "queue-10", "queue-34");
        assertThat(this.inspector.queues(null, 26).nextCursor()).isNull();

        assertThat(this.inspector.forget("queue-10")).isFalse();
        assertThat(this.inspector.forget("unknown")).isFalse();
        this.sender.queue().pause("paused");
        assertThat(this.inspector.queues(null, 100).queues()).contains("paused");
        assertThat(this.inspector.forget("paused")).isFalse();
        this.sender.queue().resume("paused");
        this.sender.queue().schedules("paused").put(ScheduleDefinition.cron("daily", "@daily").build());
        assertThat(this.inspector.forget("paused")).isFalse();
        this.sender.queue().schedules("paused").remove("daily");
        assertThat(this.inspector.forget("paused")).isTrue();
        Applications.await(() -> assertThat(this.inspector.nodes()).hasSize(1));
        assertThat(this.inspector.forget("orders")).isFalse();
        listener.close();
        Applications.await(() -> assertThat(this.inspector.nodes()).isEmpty());
        assertThat(this.inspector.forget("orders")).isTrue();
        assertThat(this.inspector.queues(null, 100).queues()).hasSize(25).doesNotContain("orders");
        assertThatIllegalArgumentException().isThrownBy(() -> this.inspector.queues("a b", 1));
        assertThatIllegalArgumentException().isThrownBy(() -> this.inspector.queues(null, 0));
        assertThatIllegalArgumentException().isThrownBy(() -> this.inspector.queues(null, 1_001));
    }

    @Test
    void nodesReportTheirStatusWhileTheyHaveListeners() {
        assertThat(this.inspector.nodes()).isEmpty();
        Application one = this.applications.withHandler(this.redis, "spring.application.name=shop",
                "delayqueue.listener.concurrency=3");
        Application two = this.applications.withHandler(this.redis);
        Applications.await(() -> assertThat(this.inspector.nodes()).hasSize(2));

        NodeStatus shop = this.inspector.nodes()
            .stream()
            .filter((node) -> node.application().equals("shop"))
            .findFirst()
            .orElseThrow();
        assertThat(shop.pid()).isEqualTo(ProcessHandle.current().pid());
        assertThat(shop.startedAt()).isBeforeOrEqualTo(shop.seenAt());
        assertThat(shop.listeners()).containsExactly(new NodeStatus.ListenerStatus("orders", List.of("orders"), 3, 3,
                true, false, null, 0, 0, List.of(new NodeStatus.QueueStatus("orders", 3, 3, 3, null))));
        two.close();
        // It may have reported again.
        Applications.await(() -> assertThat(this.inspector.nodes())
            .usingRecursiveFieldByFieldElementComparatorIgnoringFields("seenAt")
            .containsExactly(shop));
        one.listener().pause();
        Applications.await(() -> assertThat(this.inspector.nodes().get(0).listeners().get(0).paused()).isTrue());
    }

    @Test
    void searchesAllPartitionsOfAllQueues() {
        this.sender.queue()
            .sendAll(IntStream.range(0, 250).mapToObj((i) -> message("queue-%03d".formatted(i), "id-" + i)).toList());
        Application other = this.applications.withoutHandler(this.redis);
        other.queue().repartition("queue-200", 5);
        other.queue().sendAll(IntStream.range(0, 20).mapToObj((i) -> message("queue-200", "part-" + i)).toList());
        other.queue().sendAll(List.of(message("queue-200", "needle"), message("queue-007", "needle")));
        Applications.await(() -> assertThat(this.inspector.queues(null, 300).queues()).hasSize(250));

        assertThat(found("needle")).containsExactlyInAnyOrder("queue-007", "queue-200");
        assertThat(found("id-249")).containsExactly("queue-249");
        assertThat(found("part-13")).containsExactly("queue-200");
        assertThat(found("part-")).isEmpty();
        Set<String> scanned = new TreeSet<>();
        String cursor = null;
        do {
            MessageScanPage page = this.inspector.scan("queue-200", ScanSelection.ALL, "part-", cursor);
            page.messages().forEach((message) -> scanned.add(message.id()));
            cursor = page.nextCursor();
        }
        while (cursor != null);
        assertThat(scanned).hasSize(20);
        assertThat(this.inspector.dueHistogram("queue-200").days().get(0).count()
                + this.inspector.dueHistogram("queue-200").days().get(1).count())
            .isEqualTo(22);
        assertThatIllegalArgumentException()
            .isThrownBy(() -> this.inspector.scan("queue-200", ScanSelection.ALL, "", "9-0:0"));
    }

    private List<String> found(String id) {
        List<String> queues = new ArrayList<>();
        String cursor = null;
        do {
            IdSearchPage page = this.inspector.search(id, cursor);
            page.matches().forEach((match) -> queues.add(match.queue()));
            cursor = page.nextCursor();
        }
        while (cursor != null);
        return queues;
    }

    private static DelayedMessage message(String queue, String id) {
        return DelayedMessage.builder(queue, Map.of("id", id)).id(id).delay(FAR).build();
    }

    @Test
    void lookingAtAQueueDoesNotPutItIntoTheList() {
        assertThat(this.inspector.overview("seen").scheduled()).isZero();
        this.sender.queue().statistics("seen");
        this.sender.queue().find("seen", "a");

        assertThat(this.inspector.queues(null, 10).queues()).isEmpty();
    }

    @Test
    void countsAreThoseOfAllPartitionsHoweverNewTheyAre() {
        this.sender.queue().sendAll(messages("orders", 20, FAR));
        assertThat(this.inspector.overview("orders").partitions()).isOne();
        Application other = this.applications.withoutHandler(this.redis);
        other.queue().repartition("orders", 3);
        other.queue().sendAll(messages("orders", 20, Duration.ZERO));
        other.queue().pause("orders");

        QueueOverview overview = this.inspector.overview("orders");
        assertThat(overview.partitions()).isEqualTo(3);
        assertThat(overview.scheduled()).isEqualTo(40);
        assertThat(overview.due()).isEqualTo(20);
        assertThat(overview.paused()).isTrue();
        assertThat(overview.pausedUntil()).isNull();
        assertThat(overview.oldestDue()).isPositive();
        assertThat(this.inspector.dueForecast("orders")).isEqualTo(new DueForecast("orders", 20, 0, 0, 20, 0, 0, 0));
        assertThat(this.inspector.overviews(List.of("none", "orders")).overviews()).extracting(QueueOverview::scheduled)
            .containsExactly(0L, 40L);
    }

    @Test
    void messagesAreListedOverAllPartitionsInOneOrder() {
        this.sender.queue().repartition("orders", 4);
        for (int i = 0; i < 50; i++) {
            DelayedMessage message = DelayedMessage.builder("orders", new Order(i))
                .id("order-" + i)
                .dueAt(DUE.plusMillis(i / 10))
                .build();
            this.sender.queue().send(message);
        }

        List<MessageSummary> listed = new ArrayList<>();
        String cursor = null;
        do {
            MessagePage page = this.inspector.messages("orders", MessageSelection.SCHEDULED, cursor, 7);
            listed.addAll(page.messages());
            cursor = page.nextCursor();
        }
        while (cursor != null);
        assertThat(listed).hasSize(50)
            .isSortedAccordingTo(Comparator.comparing(MessageSummary::dueAt).thenComparing(MessageSummary::id))
            .doesNotHaveDuplicates();
    }

    @ParameterizedTest
    @ValueSource(strings = { "", "!", "x", "RFVFOjU6YQ", "U0NIRURVTEVEOjU6", "U0NIRURVTEVEOmE6YQ", "U0NIRURVTEVEOjU" })
    void aCursorThatNoPageGaveIsRefused(String cursor) {
        assertThatIllegalArgumentException()
            .isThrownBy(() -> this.inspector.messages("orders", MessageSelection.SCHEDULED, cursor, 7))
            .withMessageContaining("nextCursor");
    }

    @ParameterizedTest
    @ValueSource(ints = { 0, -1, 101 })
    void aPageHasALimit(int limit) {
        assertThatIllegalArgumentException()
            .isThrownBy(() -> this.inspector.messages("orders", MessageSelection.DUE, null, limit));
    }

}

package io.delayqueue.integration.outage;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;

import io.delayqueue.MessageSummary;
import io.delayqueue.admin.IntegrityReport;
import io.delayqueue.admin.MessageSelection;
import io.delayqueue.admin.NodeOperations;
import io.delayqueue.admin.NodeOperations.OverrideRequest;
import io.delayqueue.admin.QueueActivity.Backlog;
import io.delayqueue.admin.QueueActivity.Minute;
import io.delayqueue.admin.ScanSelection;
import io.delayqueue.admin.WantedNodeState;
import io.delayqueue.fixtures.application.Application;
import io.delayqueue.fixtures.application.Applications;
import io.delayqueue.store.ActivityReport;
import io.delayqueue.store.ActivityStore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** The scripts of reads, and of examinations, for {@link ReplayedScriptTests}. */
final class ReplayedInspectionCases extends ReplayedCases {

    private final ActivityStore activity;

    private final NodeOperations nodes;

    ReplayedInspectionCases(ReplayedApplication replayed) {
        super(replayed);
        this.activity = replayed.bean(ActivityStore.class);
        this.nodes = replayed.bean(NodeOperations.class);
    }

    @Override
    Map<String, Runnable> cases() {
        return Map.ofEntries(Map.entry("find", this::aLookAtAMessage), Map.entry("statistics", this::aLookAtTheCounts),
                Map.entry("queues", this::aLookAtTheQueues), Map.entry("messages", this::aListOfMessages),
                Map.entry("scan", this::aScan), Map.entry("locate", this::aSearchOfAnId),
                Map.entry("nodes", this::aLookAtTheNodes), Map.entry("record-activity", this::aReportOfActivity),
                Map.entry("record-backlog", this::aCountOfMessages), Map.entry("read-activity", this::aLookAtActivity),
                Map.entry("wanted-state", this::aChangeOfANode),
                Map.entry("inspect-partition", () -> anExamination("inspect-partition")),
                Map.entry("inspect-messages", () -> anExamination("inspect-messages")));
    }

    private void aLookAtAMessage() {
        this.queue.sendAll(plain(1, FAR));
        assertThat(repeated("find", () -> this.queue.find("orders", "m-0"))).isPresent();
        cancelAll(1);
    }

    private void aLookAtTheCounts() {
        this.queue.sendAll(plain(2, FAR));
        assertThat(repeated("statistics", this::counts)).isEqualTo(List.of(2L, 0L, 0L));
        assertThat(repeated("statistics", () -> this.inspector.dueForecast("orders").hour())).isEqualTo(2);
        cancelAll(2);
    }

    private void aLookAtTheQueues() {
        this.queue.sendAll(plain(1, FAR));
        cancelAll(1);
        Applications.await(() -> assertThat(this.inspector.queues(null, 10).queues()).containsExactly("orders"));
        assertThat(repeated("queues", () -> this.inspector.queues(null, 10)).queues()).containsExactly("orders");
        // The second run is a new call.
        assertThat(repeated("queues", () -> this.inspector.forget("orders"))).isFalse();
        assertThat(this.inspector.queues(null, 10).queues()).isEmpty();
    }

    private void aListOfMessages() {
        this.queue.sendAll(plain(3, FAR));
        assertThat(repeated("messages",
                () -> this.inspector.messages("orders", MessageSelection.SCHEDULED, null, 2).messages()))
            .extracting(MessageSummary::id)
            .containsExactly("m-0", "m-1");
        cancelAll(3);
    }

    private void aScan() {
        this.queue.sendAll(plain(3, FAR));
        assertThat(
                repeated("scan", () -> this.inspector.scan("orders", ScanSelection.SCHEDULED, "m-1", null)).messages())
            .extracting(MessageSummary::id)
            .containsExactly("m-1");
        cancelAll(3);
    }

    private void aSearchOfAnId() {
        this.queue.sendAll(plain(1, FAR));
        Applications.await(() -> assertThat(this.inspector.queues(null, 10).queues()).containsExactly("orders"));
        assertThat(repeated("locate", () -> this.inspector.search("m-0", null)).matches()).hasSize(1);
        cancelAll(1);
        this.inspector.forget("orders");
    }

    private void aLookAtTheNodes() {
        Application worker = this.applications.withHandler(this.redis);
        Applications.await(() -> assertThat(this.inspector.nodes()).hasSize(1));
        assertThat(repeated("nodes", () -> this.inspector.nodes())).hasSize(1);
        worker.close();
    }

    private void aReportOfActivity() {
        ActivityReport report = new ActivityReport("one", 1, Duration.ZERO, Map.of("orders", started(3)));

        assertThat(repeated("record-activity", () -> this.activity.report(report).join()).leftOut()).isEmpty();

        assertThat(started()).isEqualTo(3);
    }

    private void aCountOfMessages() {
        this.activity.report(new ActivityReport("two", 1, Duration.ZERO, Map.of("counted", started(0)))).join();
        Backlog backlog = new Backlog(1, 2, 3, 4);
        Instant now = Applications.timeOf(this.redis.commands());

        repeated("record-backlog",
                () -> this.activity.record(now, Map.of("counted", backlog), true).thenApply((done) -> true).join());

        assertThat(this.activity.read("counted").join().minutes()).extracting(Minute::backlog).contains(backlog);
    }

    private void aLookAtActivity() {
        this.activity.report(new ActivityReport("three", 1, Duration.ZERO, Map.of("orders", started(1)))).join();

        assertThat(repeated("read-activity", () -> this.activity.read(null).join()).queues()).contains("orders");
    }

    private static long[] started(int count) {
        long[] counts = new long[ActivityReport.FIELDS];
        counts[0] = count;
        return counts;
    }

    private long started() {
        return this.activity.read("orders").join().minutes().stream().mapToLong(Minute::started).sum();
    }

    private void aChangeOfANode() {
        Application worker = this.applications.withHandler(this.redis);
        Applications.await(() -> assertThat(this.inspector.nodes()).hasSize(1));
        String node = this.inspector.nodes().get(0).id();
        OverrideRequest request = new OverrideRequest("orders", "orders", 2, false, "alice", Duration.ofHours(1));
        assertThat(repeated("wanted-state", () -> this.nodes.override(node, request))).isPresent();
        assertThat(this.nodes.wanted(node).orElseThrow().overrides()).hasSize(1);
        assertThat(repeated("wanted-state", () -> this.nodes.withdraw(node, "orders", "orders"))).isPresent();
        assertThat(this.nodes.wanted(node)).contains(WantedNodeState.NONE);
        worker.close();
    }

    private void anExamination(String script) {
        this.queue.sendAll(grouped(3, FAR));
        IntegrityReport examination = repeated(script, () -> this.checker.check("orders"));

        assertThat(examination.isSound()).as(examination::toString).isTrue();
        assertThat(examination.examined()).isGreaterThanOrEqualTo(3);
        cancelAll(3);
    }

}

package io.delayqueue.integration.outage;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.IntStream;

import io.delayqueue.CancelResult;
import io.delayqueue.DeadLetterPage;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedMessage;
import io.delayqueue.MessageState;
import io.delayqueue.MessageSummary;
import io.delayqueue.OnDuplicate;
import io.delayqueue.QueueName;
import io.delayqueue.QueueStatistics;
import io.delayqueue.RedriveResult;
import io.delayqueue.RescheduleResult;
import io.delayqueue.ResumeResult;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.admin.DelayQueueInspector;
import io.delayqueue.admin.DelayQueueIntegrityChecker;
import io.delayqueue.admin.IntegrityReport;
import io.delayqueue.admin.MessageSelection;
import io.delayqueue.fixtures.application.Application;
import io.delayqueue.fixtures.application.Applications;
import io.delayqueue.fixtures.application.OrderHandler.Order;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.redis.ReplyLossProxy;
import io.delayqueue.redis.script.LoadedScripts;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.DeadLetterRequest;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.Lease;
import io.delayqueue.store.LedgerChanges;
import io.delayqueue.store.LedgerEntry;
import io.delayqueue.store.LedgerRequest;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.Offer;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionTarget;
import io.delayqueue.store.PrimaryPollerBid;
import io.delayqueue.store.RecordedDeadLetter;
import io.delayqueue.store.SecretStore;
import io.delayqueue.store.UnstartedLease;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * P11: every script there is, run by Redis, its answer lost, and run again by the client,
 * with many messages and with groups; and P1 where Redis refuses the second run.
 */
@Tag("server")
class ReplayedScriptTests {

    private static final Partition ORDERS = Partition.first(new QueueName("orders"));

    private static final Duration LEASE = Duration.ofMinutes(1);

    private static final Duration FAR = Duration.ofHours(1);

    private static final PrimaryPollerBid BID = new PrimaryPollerBid("one", PrimaryPollerBid.Kind.ACQUIRE, 0, LEASE);

    private final RedisServer redis = RedisServer.shared(RedisBinary.preferred());

    @RegisterExtension
    final Applications applications = new Applications();

    private final Map<String, Runnable> cases = new TreeMap<>();

    private ReplyLossProxy loss;

    private DelayQueueOperations queue;

    private MessageStore store;

    private SecretStore secrets;

    private DelayQueueInspector inspector;

    private DelayQueueIntegrityChecker checker;

    ReplayedScriptTests() {
        this.cases.put("send", this::aBatchOfSends);
        this.cases.put("schedule", this::aBatchOfSendsToGroups);
        this.cases.put("claim", this::aClaimOfHeadsOfGroups);
        this.cases.put("resign-primary", this::aResignation);
        this.cases.put("acknowledge", this::aBatchOfAcknowledgements);
        this.cases.put("extend", this::aBatchOfExtensions);
        this.cases.put("mark-started", this::aStart);
        this.cases.put("retry", this::aRetryOfAHead);
        this.cases.put("release", this::aBatchOfReleases);
        this.cases.put("dead-letter", this::aDeathOfAHead);
        this.cases.put("cancel", this::aCancelOfAHead);
        this.cases.put("reschedule", this::aRescheduleOfAHead);
        this.cases.put("redrive", this::aRedriveToAGroup);
        this.cases.put("purge", this::aPurge);
        this.cases.put("changes", this::aCallOfAJournal);
        this.cases.put("restore-dead-letters", this::aRestoreOfADeadLetter);
        this.cases.put("find", this::aLookAtAMessage);
        this.cases.put("statistics", this::aLookAtTheCounts);
        this.cases.put("queues", this::aLookAtTheQueues);
        this.cases.put("messages", this::aListOfMessages);
        this.cases.put("nodes", this::aLookAtTheNodes);
        this.cases.put("dead-letters", this::aLookAtDeadLetters);
        this.cases.put("partitions", () -> {
            aRepartition();
            aPause();
        });
        this.cases.put("inspect-partition", () -> anExamination("inspect-partition"));
        this.cases.put("inspect-messages", () -> anExamination("inspect-messages"));
        this.cases.put("check-server", this::aStartOfAnApplication);
        this.cases.put("secret", this::aSecretOfTheNamespace);
    }

    static Set<String> scripts() {
        return LoadedScripts.texts().keySet();
    }

    @BeforeEach
    void start() {
        // A server refuses a script that it does not know, and the proxy would lose that
        // answer.
        LoadedScripts.texts().values().forEach((text) -> this.redis.commands().scriptLoad(text));
        this.loss = new ReplyLossProxy(this.redis.port());
        Application application = this.applications.start(Applications.SenderConfiguration.class,
                Applications.at(this.loss.port()));
        this.queue = application.queue();
        this.store = application.context().getBean(MessageStore.class);
        this.secrets = application.context().getBean(SecretStore.class);
        this.inspector = application.context().getBean(DelayQueueInspector.class);
        this.checker = application.context().getBean(DelayQueueIntegrityChecker.class);
    }

    @AfterEach
    void stop() {
        this.applications.close();
        this.loss.close();
        assertThat(this.applications.keys(this.redis)).allMatch((key) -> key.endsWith(":partitions"));
    }

    @ParameterizedTest
    @MethodSource("scripts")
    void isRunTwiceAndLeavesTheStateOfOneRun(String script) {
        assertThat(this.cases).as("a case for each script").containsKey(script);

        this.cases.get(script).run();
    }

    private void aBatchOfSends() {
        List<SendResult> sent = repeated("send", () -> this.queue.sendAll(plain(3, FAR)));

        assertThat(sent).extracting(SendResult::outcome).containsOnly(SendOutcome.SCHEDULED);
        assertThat(counts()).isEqualTo(List.of(3L, 0L, 0L));
        cancelAll(3);
    }

    private void aBatchOfSendsToGroups() {
        List<SendResult> sent = repeated("schedule", () -> this.queue.sendAll(grouped(3, FAR)));

        assertThat(sent).extracting(SendResult::outcome).containsOnly(SendOutcome.SCHEDULED);
        assertThat(counts()).isEqualTo(List.of(3L, 0L, 0L));
        cancelAll(3);
    }

    private void aClaimOfHeadsOfGroups() {
        this.queue.sendAll(grouped(3, Duration.ZERO));
        awaitDue();
        ClaimResult lost = repeated("claim", () -> claim(Duration.ofSeconds(1), BID));

        assertThat(lost.messages()).isEmpty();
        assertThat(lost.primaryPoller()).isTrue();
        for (int i = 0; i < 3; i++) {
            ClaimedMessage head = claimed(1).get(0);
            assertThat(head.lease().id()).isEqualTo("m-" + i);
            assertThat(head.redelivered()).isEqualTo(i == 0);
            assertThat(head.lapses() + head.failures()).isZero();
            assertThat(this.store.acknowledge(ORDERS, List.of(head.lease())).join()).containsExactly(true);
        }
        assertThat(this.store.resign(ORDERS, BID.node()).join()).isTrue();
    }

    private void aResignation() {
        assertThat(claim(LEASE, BID).primaryPoller()).isTrue();
        assertThat(repeated("resign-primary", () -> this.store.resign(ORDERS, BID.node()).join())).isFalse();

        PrimaryPollerBid another = new PrimaryPollerBid("another", PrimaryPollerBid.Kind.ACQUIRE, 0, LEASE);
        assertThat(claim(LEASE, another).primaryPoller()).isTrue();
        assertThat(this.store.resign(ORDERS, "another").join()).isTrue();
    }

    private void aBatchOfAcknowledgements() {
        this.queue.sendAll(plain(2, Duration.ZERO));
        this.queue.sendAll(List.of(grouped("m-2", Duration.ZERO), grouped("m-3", Duration.ZERO)));
        List<Lease> leases = leases(claimed(3));
        this.queue.send(DelayedMessage.builder("orders", new Order(9))
            .id("m-0")
            .onDuplicate(OnDuplicate.AFTER_CURRENT)
            .delay(FAR)
            .build());
        repeated("acknowledge", () -> this.store.acknowledge(ORDERS, leases).join());

        assertThat(counts()).isEqualTo(List.of(2L, 0L, 0L));
        assertThat(this.queue.find("orders", "m-0").orElseThrow().payload()).contains("9");
        List<Lease> follower = leases(claimed(1));
        assertThat(follower).extracting(Lease::id).containsExactly("m-3");
        assertThat(this.store.acknowledge(ORDERS, follower).join()).containsExactly(true);
        cancelled("m-0");
    }

    /** A message whose row the lost answer named is returned again later. */
    private void aCallOfAJournal() {
        NewMessage message = new NewMessage("m-0", false, DueTime.NOW, OnDuplicate.KEEP, 4, null, null,
                new byte[] { 'x' }, 0, 7);
        this.store
            .schedule(PartitionTarget.first(ORDERS.queue()).with(new Offer(7, Long.MAX_VALUE, null)), List.of(message))
            .join();
        assertThat(this.store.acknowledge(ORDERS, leases(claimed(1))).join()).containsOnly(true);
        LedgerEntry ended = LedgerEntry.ended(7, "m-0");
        LedgerRequest request = new LedgerRequest("j", 1, Duration.ofMillis(1), Duration.ZERO, List.of());

        LedgerChanges answer = repeated("changes", () -> this.store.changes(ORDERS, request).join());

        assertThat(answer.count()).isEqualTo(2);
        List<LedgerEntry> entries = await().until(() -> this.store.changes(ORDERS, request).join().entries(),
                (all) -> all.size() == 2); // the first call of a journal adds one
        assertThat(entries).contains(ended);
        LedgerRequest deleted = new LedgerRequest("j", 1, Duration.ofMillis(1), Duration.ZERO, entries);
        assertThat(this.store.changes(ORDERS, deleted).join().entries()).isEmpty();
        String stem = this.applications.namespace() + ":{orders}:";
        await().untilAsserted(() -> {
            this.store.changes(ORDERS, request).join();
            assertThat(this.redis.commands().exists(stem + "changes")).isZero();
        });
        this.redis.commands().del(stem + "journal");
    }

    private void aBatchOfExtensions() {
        List<Lease> leases = leased(3);
        assertThat(repeated("extend", () -> this.store.extend(ORDERS, leases, FAR).join())).containsOnly(true);

        Instant before = Applications.timeOf(this.redis.commands()).plus(FAR.dividedBy(2));
        assertThat(this.queue.find("orders", "m-2").orElseThrow().leasedUntil()).isAfter(before);
        assertThat(this.store.acknowledge(ORDERS, leases).join()).containsOnly(true);
    }

    private void aStart() {
        List<Lease> leases = leased(1);
        assertThat(repeated("mark-started", () -> this.store.start(leases.get(0)).join())).isTrue();

        assertThat(this.store.acknowledge(ORDERS, leases).join()).containsOnly(true);
    }

    private void aRetryOfAHead() {
        Lease head = leasedHead();
        assertThat(repeated("retry", () -> this.store.retry(head, FAR, "boom").join())).isTrue();

        assertThat(this.queue.find("orders", "head").orElseThrow().failures()).isEqualTo(1);
        assertThat(claim(LEASE, null).messages()).as("the follower waits").isEmpty();
        cancelled("head", "follower");
    }

    private void aBatchOfReleases() {
        this.queue.sendAll(plain(3, Duration.ZERO));
        List<ClaimedMessage> unbegun = claimed(3);
        List<UnstartedLease> due = unbegun.stream().map(ClaimedMessage::unstartedLease).toList();
        assertThat(repeated("release", () -> this.store.release(ORDERS, due).join())).containsOnly(true);
        List<ClaimedMessage> again = claimed(3);
        assertThat(again).extracting(ClaimedMessage::dueAt)
            .containsExactlyElementsOf(unbegun.stream().map(ClaimedMessage::dueAt).toList());
        List<Lease> leases = leases(again);
        assertThat(repeated("release", () -> this.store.release(ORDERS, leases, FAR).join())).containsOnly(true);

        assertThat(counts()).isEqualTo(List.of(3L, 0L, 0L));
        cancelAll(3);
    }

    private void aDeathOfAHead() {
        Lease head = leasedHead();
        assertThat(repeated("dead-letter", () -> this.store.deadLetter(head, death()).join())).isTrue();

        assertThat(counts()).isEqualTo(List.of(1L, 0L, 1L));
        cancelled("follower");
        assertThat(this.queue.deadLetters("orders").purgeAll()).isEqualTo(1);
    }

    private void aCancelOfAHead() {
        this.queue.sendAll(List.of(grouped("head", FAR), grouped("follower", FAR.plusHours(1))));
        assertThat(repeated("cancel", () -> this.queue.cancel("orders", "head"))).isEqualTo(CancelResult.NOT_FOUND);

        assertThat(counts()).isEqualTo(List.of(1L, 0L, 0L));
        cancelled("follower");
    }

    private void aRescheduleOfAHead() {
        this.queue.sendAll(List.of(grouped("head", FAR), grouped("follower", FAR.plusHours(1))));
        assertThat(repeated("reschedule", () -> this.queue.reschedule("orders", "head", FAR.plusHours(2))))
            .isEqualTo(RescheduleResult.RESCHEDULED);

        assertThat(this.queue.find("orders", "head").orElseThrow().state()).isEqualTo(MessageState.SCHEDULED);
        cancelled("head", "follower");
    }

    private void aRedriveToAGroup() {
        Lease head = leasedHead();
        this.store.deadLetter(head, death()).join();
        assertThat(repeated("redrive",
                () -> this.store.redrive(PartitionTarget.first(ORDERS.queue()), head.deadLetterId()).join()))
            .isEqualTo(RedriveResult.REDRIVEN);

        assertThat(counts()).isEqualTo(List.of(2L, 0L, 0L));
        cancelled("head", "follower");
    }

    private void aPurge() {
        List<Lease> leases = leased(3);
        leases.forEach((lease) -> this.store.deadLetter(lease, death()).join());
        assertThat(repeated("purge", () -> this.store.purge(ORDERS, leases.get(0).deadLetterId()).join())).isFalse();
        assertThat(counts()).isEqualTo(List.of(0L, 0L, 2L));

        assertThat(repeated("purge", () -> this.store.purgeOlderThan(ORDERS, Duration.ZERO).join())).isZero();
        assertThat(counts()).isEqualTo(List.of(0L, 0L, 0L));
    }

    private void aRestoreOfADeadLetter() {
        List<RecordedDeadLetter> lost = List.of(new RecordedDeadLetter("m-0~1", "5:5:1:0:0:4:1:0:xsx".getBytes(UTF_8)));
        assertThat(repeated("restore-dead-letters",
                () -> this.store.restoreDeadLetters(ORDERS, Long.MAX_VALUE, lost).join()))
            .isZero();
        assertThat(counts()).isEqualTo(List.of(0L, 0L, 1L));
        assertThat(this.store.purge(ORDERS, "m-0~1").join()).isTrue();
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

    private void aListOfMessages() {
        this.queue.sendAll(plain(3, FAR));
        assertThat(repeated("messages",
                () -> this.inspector.messages("orders", MessageSelection.SCHEDULED, null, 2).messages()))
            .extracting(MessageSummary::id)
            .containsExactly("m-0", "m-1");
        cancelAll(3);
    }

    private void aLookAtTheNodes() {
        Application worker = this.applications.withHandler(this.redis);
        Applications.await(() -> assertThat(this.inspector.nodes()).hasSize(1));
        assertThat(repeated("nodes", () -> this.inspector.nodes())).hasSize(1);
        worker.close();
    }

    private void aSecretOfTheNamespace() {
        byte[] candidate = new byte[SecretStore.SECRET_BYTES];
        byte[] secret = repeated("secret", () -> this.secrets.getOrCreate(candidate).join());

        assertThat(secret).isEqualTo(candidate);
        byte[] another = new byte[SecretStore.SECRET_BYTES];
        another[0] = 1;
        assertThat(this.secrets.getOrCreate(another).join()).isEqualTo(secret);
        this.applications.keys(this.redis)
            .stream()
            .filter((key) -> key.endsWith(":secret"))
            .forEach((key) -> this.redis.commands().del(key));
    }

    private void aLookAtTheQueues() {
        this.queue.sendAll(plain(1, FAR));
        cancelAll(1);
        Applications.await(() -> assertThat(this.inspector.queues(null, 10).queues()).containsExactly("orders"));
        assertThat(repeated("queues", () -> this.inspector.queues(null, 10)).queues()).containsExactly("orders");
        assertThat(repeated("queues", () -> this.inspector.forget("orders"))).isFalse(); // a
                                                                                         // new
                                                                                         // call
        assertThat(this.inspector.queues(null, 10).queues()).isEmpty();
    }

    private void aLookAtDeadLetters() {
        this.store.deadLetter(leased(1).get(0), death()).join();
        DeadLetterPage page = repeated("dead-letters", () -> this.queue.deadLetters("orders").list(null, 10));

        assertThat(page.deadLetters()).hasSize(1);
        assertThat(this.queue.deadLetters("orders").purgeAll()).isEqualTo(1);
    }

    private void aRepartition() {
        this.queue.sendAll(plain(5, FAR));
        // Loses the answer of each of its calls in turn, until none is left.
        int lost = 0;
        int before = 1;
        while (!this.loss.isPending()) {
            int next = 2 + lost % 2;
            this.loss.next(LoadedScripts.sha("partitions"), lost);
            assertThat(this.queue.repartition("orders", next)).isEqualTo(before);
            before = next;
            assertThat(counts()).isEqualTo(List.of(5L, 0L, 0L));
            lost++;
        }
        assertThat(lost).isGreaterThan(3);
        cancelAll(5);
    }

    private void aPause() {
        int lost = 0;
        do {
            this.loss.next(LoadedScripts.sha("partitions"), lost);
            if (lost % 2 == 0) {
                assertThat(this.queue.pause("orders").wasPaused()).isFalse();
            }
            else {
                assertThat(this.queue.resume("orders")).isEqualTo(ResumeResult.RESUMED);
            }
            lost++;
        }
        while (!this.loss.isPending());
        assertThat(lost).isGreaterThan(3);
        this.queue.resume("orders");
    }

    private void aStartOfAnApplication() {
        Application worker = repeated("check-server", () -> this.applications
            .start(Applications.HandlerConfiguration.class, Applications.at(this.loss.port())));
        this.queue.send("orders", new Order(1), Duration.ZERO);
        Applications.awaitTrue("it is handled", () -> !worker.handler().rest().isEmpty());
        this.applications.assertNoKeysLeft(this.redis);
    }

    @Test
    void aRejectedSecondRunIsNotReportedAsWithoutEffect() {
        try (RedisServer own = RedisServer.start(RedisBinary.preferred());
                ReplyLossProxy between = new ReplyLossProxy(own.port())) {
            DelayQueueOperations sender = this.applications
                .start(Applications.SenderConfiguration.class, Applications.at(between.port()))
                .queue();
            sender.send(plain(1, FAR).get(0).toBuilder().id("first").build());
            between.next(LoadedScripts.sha("send"), () -> own.commands().configSet("maxmemory", "1"));

            assertThatExceptionOfType(StoreRefusedException.class)
                .isThrownBy(() -> sender.send(plain(1, FAR).get(0).toBuilder().id("second").build()))
                .withMessageContaining("OOM")
                .withMessageContaining("may have taken effect")
                .satisfies((ex) -> assertThat(ex.effect()).isEqualTo(Effect.UNKNOWN));
            assertThat(sender.find("orders", "second")).isPresent();
            assertThatExceptionOfType(StoreRefusedException.class)
                .isThrownBy(() -> sender.send(plain(1, FAR).get(0).toBuilder().id("third").build()))
                .satisfies((ex) -> assertThat(ex.effect()).isEqualTo(Effect.NONE));
            this.applications.close();
        }
    }

    private void anExamination(String script) {
        this.queue.sendAll(grouped(3, FAR));
        IntegrityReport examination = repeated(script, () -> this.checker.check("orders"));

        assertThat(examination.isSound()).as(examination::toString).isTrue();
        assertThat(examination.examined()).isGreaterThanOrEqualTo(3);
        cancelAll(3);
    }

    private <T> T repeated(String script, Supplier<T> call) {
        this.loss.next(LoadedScripts.sha(script));
        T answer = call.get();
        assertThat(this.loss.isPending()).as("no answer of '%s' was lost", script).isFalse();
        return answer;
    }

    private static List<DelayedMessage> plain(int count, Duration delay) {
        return IntStream.range(0, count)
            .mapToObj((i) -> DelayedMessage.builder("orders", new Order(i)).id("m-" + i).delay(delay).build())
            .toList();
    }

    private static List<DelayedMessage> grouped(int count, Duration delay) {
        return IntStream.range(0, count).mapToObj((i) -> grouped("m-" + i, delay)).toList();
    }

    private static DelayedMessage grouped(String id, Duration delay) {
        return DelayedMessage.builder("orders", new Order(1)).id(id).group("g").delay(delay).build();
    }

    private List<Lease> leased(int count) {
        this.queue.sendAll(plain(count, Duration.ZERO));
        return leases(claimed(count));
    }

    /** The lease of the head of a group with one follower. */
    private Lease leasedHead() {
        this.queue.sendAll(List.of(grouped("head", Duration.ZERO), grouped("follower", FAR)));
        return claimed(1).get(0).lease();
    }

    private static List<Lease> leases(List<ClaimedMessage> messages) {
        return messages.stream().map(ClaimedMessage::lease).toList();
    }

    /** Claims once that many are due, or their leases have run out. */
    private List<ClaimedMessage> claimed(int count) {
        List<ClaimedMessage> claimed = new ArrayList<>();
        Applications.await(() -> {
            claimed.addAll(claim(LEASE, null).messages());
            assertThat(claimed).hasSize(count);
        });
        return claimed;
    }

    private ClaimResult claim(Duration lease, @Nullable PrimaryPollerBid bid) {
        ClaimRequest request = (bid != null) ? new ClaimRequest(10, lease, ExpiryPolicy.DROP, bid)
                : new ClaimRequest(10, lease, ExpiryPolicy.DROP);
        return this.store.claim(ORDERS, request).join();
    }

    private static DeadLetterRequest death() {
        return new DeadLetterRequest("boom", true, Instant.EPOCH);
    }

    /** Scheduled, leased, dead. */
    private List<Long> counts() {
        QueueStatistics statistics = this.queue.statistics("orders");
        return List.of(statistics.scheduled(), statistics.leased(), statistics.dead());
    }

    private void awaitDue() {
        Applications.awaitTrue("it is due", () -> this.queue.statistics("orders").due() > 0);
    }

    private void cancelAll(int count) {
        cancelled(IntStream.range(0, count).mapToObj((i) -> "m-" + i).toArray(String[]::new));
    }

    private void cancelled(String... ids) {
        for (String id : ids) {
            assertThat(this.queue.cancel("orders", id)).as(id).isEqualTo(CancelResult.CANCELLED);
        }
    }

}

package io.delayqueue.journal;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.MessageLimits;
import io.delayqueue.OnDuplicate;
import io.delayqueue.QueueName;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.fixtures.ManualClock;
import io.delayqueue.memory.InMemoryMessageStore;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.DeadLetterRequest;
import io.delayqueue.store.DelegatingMessageStore;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.Lease;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.OfferConditions;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionTarget;
import io.delayqueue.store.envelope.EnvelopeCodec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the transitions that are recorded of each call of a store. */
class HistoryRecorderTests {

    private static final QueueName QUEUE = new QueueName("orders");

    private static final Partition PARTITION = Partition.first(QUEUE);

    private static final PartitionTarget TARGET = new PartitionTarget(PARTITION, 0);

    private static final Duration LEASE = Duration.ofSeconds(30);

    private static final String CAUSE = "java.lang.IllegalStateException: card 4711 is blocked";

    private final ManualClock clock = new ManualClock();

    private final List<HistoryRow> rows = new ArrayList<>();

    private long nanos;

    private MessageStore store = recorder(true);

    private HistoryRecorder recorder(boolean causes) {
        return new HistoryRecorder(new InMemoryMessageStore(new EnvelopeCodec(JsonMapper.shared()), this.clock),
                QUEUE::equals, causes, this.rows::add, () -> this.nanos++);
    }

    private void send(String id, Duration timeToLive) {
        NewMessage message = new NewMessage(id, false, DueTime.NOW, OnDuplicate.KEEP, MessageLimits.NORMAL_PRIORITY,
                timeToLive, null, new byte[] { '{', '}' });
        this.store.schedule(TARGET, List.of(message)).join();
    }

    private ClaimedMessage claim(ExpiryPolicy policy) {
        List<ClaimedMessage> claimed = this.store.claim(PARTITION, new ClaimRequest(1, LEASE, policy, null, LEASE))
            .join()
            .messages();
        return claimed.isEmpty() ? null : claimed.get(0);
    }

    private Lease sentAndClaimed(String id) {
        send(id, null);
        Lease lease = claim(ExpiryPolicy.DROP).lease();
        this.rows.clear();
        return lease;
    }

    private List<String> recorded() {
        return this.rows.stream()
            .map((row) -> row.id() + " " + row.event() + ((row.attempt() != null) ? " " + row.attempt() : "")
                    + ((row.detail() != null) ? ": " + row.detail() : ""))
            .toList();
    }

    static List<Method> methods() {
        return Arrays.stream(MessageStore.class.getMethods()).toList();
    }

    /** A method that the interface implements would bypass the store behind it. */
    @ParameterizedTest
    @MethodSource("methods")
    void everyMethodOfTheStoreIsOverridden(Method method) throws NoSuchMethodException {
        assertThat(HistoryRecorder.class.getMethod(method.getName(), method.getParameterTypes()).getDeclaringClass())
            .isIn(HistoryRecorder.class, DelegatingMessageStore.class);
    }

    @Test
    void aMessageThatIsSentClaimedAndHandled() {
        send("42", null);
        Lease lease = claim(ExpiryPolicy.DROP).lease();
        this.store.acknowledge(PARTITION, List.of(lease)).join();

        assertThat(recorded()).containsExactly("42 SENT: SCHEDULED, due at " + this.clock.now(), "42 CLAIMED 1",
                "42 HANDLED");
        assertThat(this.rows).extracting(HistoryRow::nanos).isSorted().doesNotHaveDuplicates();
    }

    @Test
    void aMessageThatFailsAndIsRetried() {
        Lease lease = sentAndClaimed("42");

        this.store.retry(lease, Duration.ofSeconds(5), CAUSE).join();
        this.clock.advance(Duration.ofSeconds(5));
        claim(ExpiryPolicy.DROP);

        assertThat(recorded()).containsExactly("42 FAILED: " + CAUSE, "42 RETRIED: due in 5 s", "42 CLAIMED 2");
    }

    @Test
    void aMessageThatFailsForGoodIsRedrivenAndPurged() {
        Lease lease = sentAndClaimed("42");

        this.store.deadLetter(lease, new DeadLetterRequest(CAUSE + "\n\tat Shop", true, this.clock.now())).join();
        this.store.redrive(TARGET, lease.deadLetterId()).join();
        Lease second = claim(ExpiryPolicy.DROP).lease();
        this.store.deadLetter(second, new DeadLetterRequest("rejected", false, this.clock.now())).join();
        this.store.purge(PARTITION, second.deadLetterId()).join();

        assertThat(recorded()).containsExactly("42 FAILED: " + CAUSE, "42 DEAD_LETTERED: " + CAUSE, "42 REDRIVEN",
                "42 CLAIMED 1", "42 DEAD_LETTERED: rejected", "42 PURGED");
    }

    /** A cause may quote a payload, but not the type of an exception. */
    @Test
    void causesCanBeLeftOut() {
        this.store = recorder(false);
        Lease lease = sentAndClaimed("42");

        this.store.retry(lease, Duration.ZERO, CAUSE).join();
        this.store
            .deadLetter(claim(ExpiryPolicy.DROP).lease(), new DeadLetterRequest("card 4711", true, this.clock.now()))
            .join();

        assertThat(recorded()).containsExactly("42 FAILED: java.lang.IllegalStateException", "42 RETRIED: due now",
                "42 CLAIMED 2", "42 FAILED", "42 DEAD_LETTERED");
    }

    @Test
    void aSettlementWithoutALeaseIsRecordedAsSuch() {
        Lease lease = sentAndClaimed("42");
        this.clock.advance(LEASE.plusSeconds(1));
        claim(ExpiryPolicy.DROP);

        this.store.acknowledge(PARTITION, List.of(lease)).join();

        assertThat(recorded()).containsExactly("42 CLAIMED 1: redelivered, as its last lease ran out",
                "42 LEASE_LOST: not HANDLED");
    }

    /** As by a consumer over HTTP that got no answer. */
    @Test
    void repeatedSettlementsAreRecordedOnce() {
        Lease retried = sentAndClaimed("1");
        Lease released = sentAndClaimed("2");
        Lease dead = sentAndClaimed("3");

        for (int i = 0; i < 2; i++) {
            assertThat(this.store.retry(retried, Duration.ofSeconds(5), CAUSE)).isCompletedWithValue(true);
            assertThat(this.store.release(PARTITION, List.of(released), Duration.ofSeconds(9)))
                .isCompletedWithValue(List.of(true));
            assertThat(this.store.deadLetter(dead, new DeadLetterRequest("rejected", true, this.clock.now())))
                .isCompletedWithValue(true);
        }

        assertThat(recorded()).containsExactly("1 FAILED: " + CAUSE, "1 RETRIED: due in 5 s", "2 RELEASED: due in 9 s",
                "3 FAILED: rejected", "3 DEAD_LETTERED: rejected");
    }

    /** Recorded there, it would have the number of that attempt. */
    @Test
    void aRepeatedSettlementIsNotRecordedBehindALaterClaim() {
        Lease retried = sentAndClaimed("1");
        this.store.retry(retried, Duration.ZERO, CAUSE).join();
        claim(ExpiryPolicy.DROP);
        Lease dead = sentAndClaimed("2");
        DeadLetterRequest request = new DeadLetterRequest("rejected", true, this.clock.now());
        this.store.deadLetter(dead, request).join();
        this.clock.advance(Duration.ofSeconds(1));
        send("2", null);
        claim(ExpiryPolicy.DROP);
        this.rows.clear();

        assertThat(this.store.retry(retried, Duration.ZERO, CAUSE)).isCompletedWithValue(false);
        assertThat(this.store.deadLetter(dead, request)).isCompletedWithValue(true);

        assertThat(recorded()).isEmpty();
    }

    @Test
    void cancelsReschedulesAndReleases() {
        Lease lease = sentAndClaimed("42");

        this.store.release(PARTITION, List.of(lease), Duration.ofSeconds(1)).join();
        this.store.reschedule(TARGET, "42", DueTime.after(Duration.ofMinutes(1))).join();
        this.store.cancel(TARGET, "42").join();
        this.store.cancel(TARGET, "42").join();
        this.store.reschedule(TARGET, "42", DueTime.NOW).join();

        assertThat(recorded()).containsExactly("42 RELEASED: due in 1 s", "42 RESCHEDULED: due in 1 min",
                "42 CANCELLED");
    }

    /**
     * After a loss a journal removes a message that has ended, with a cancel, and repeats
     * what was recorded at its time. The history keeps the end that the message had.
     */
    @Test
    void whatAJournalRepeatsIsNoTransition() {
        PartitionTarget repeated = TARGET.with(new OfferConditions(7, (partition) -> Long.MAX_VALUE).restoring());
        NewMessage lost = new NewMessage("42", false, new DueTime(1, false), OnDuplicate.REPLACE,
                MessageLimits.NORMAL_PRIORITY, null, null, new byte[] { '{', '}' });

        this.store.schedule(repeated, List.of(lost)).join();
        this.store.reschedule(repeated, "42", DueTime.after(Duration.ofMinutes(1))).join();
        this.store.cancel(repeated, "42").join();

        assertThat(recorded()).containsExactly("42 SENT: restored after a loss, due at " + Instant.ofEpochMilli(1));
    }

    /** A restore without an answer is repeated; its message was sent long ago. */
    @Test
    void aFailedRestoreIsNoTransition() {
        CompletableFuture<List<SendResult>> failed = CompletableFuture
            .failedFuture(new StoreUnavailableException("no answer", Effect.UNKNOWN, null));
        MessageStore away = (MessageStore) Proxy.newProxyInstance(getClass().getClassLoader(),
                new Class<?>[] { MessageStore.class }, (proxy, method, arguments) -> failed);
        this.store = new HistoryRecorder(away, QUEUE::equals, true, this.rows::add, () -> this.nanos++);
        PartitionTarget repeated = TARGET.with(new OfferConditions(7, (partition) -> Long.MAX_VALUE).restoring());
        List<NewMessage> messages = List.of(NewMessage.of("42", DueTime.NOW, new byte[0]));

        assertThat(this.store.schedule(repeated, messages)).isCompletedExceptionally();
        assertThat(recorded()).isEmpty();

        assertThat(this.store.schedule(TARGET, messages)).isCompletedExceptionally();
        assertThat(recorded()).containsExactly("42 SENT: no answer, so it may not be stored");
    }

    @Test
    void expiredMessages() {
        send("1", Duration.ofSeconds(1));
        Lease first = claim(ExpiryPolicy.DROP).lease();
        send("2", Duration.ofSeconds(1));
        Lease second = claim(ExpiryPolicy.DROP).lease();
        send("3", Duration.ofSeconds(1));
        this.rows.clear();

        this.store.expire(first).join();
        this.store.deadLetter(second, new DeadLetterRequest("expired", false, this.clock.now())).join();
        this.clock.advance(Duration.ofSeconds(2));
        claim(ExpiryPolicy.DEAD_LETTER);

        assertThat(recorded()).containsExactly("1 EXPIRED: dropped", "2 EXPIRED: dead-lettered",
                "3 EXPIRED: dead-lettered");
    }

    @Test
    void otherQueuesAreNotRecorded() {
        Partition other = Partition.first(new QueueName("other"));

        this.store.schedule(new PartitionTarget(other, 0), List.of(NewMessage.of("1", DueTime.NOW, new byte[0])))
            .join();
        this.store.claim(other, new ClaimRequest(1, LEASE, ExpiryPolicy.DROP, null, LEASE)).join();

        assertThat(this.rows).isEmpty();
    }

    /** A caller that has its answer can erase the row that the call has made. */
    @Test
    void theRowIsThereBeforeTheAnswer() {
        CompletableFuture<List<SendResult>> stored = new CompletableFuture<>();
        List<Integer> rowsAtAnswer = new ArrayList<>();
        MessageStore pending = (MessageStore) Proxy.newProxyInstance(getClass().getClassLoader(),
                new Class<?>[] { MessageStore.class }, (proxy, method, arguments) -> stored);
        MessageStore late = new HistoryRecorder(pending, QUEUE::equals, true, this.rows::add, () -> this.nanos++);
        CompletableFuture<List<SendResult>> answer = late.schedule(TARGET, List.of());
        answer.thenAccept((results) -> rowsAtAnswer.add(this.rows.size()));

        stored.complete(List.of(new SendResult("orders", "42", this.clock.now(), SendOutcome.SCHEDULED)));

        assertThat(rowsAtAnswer).containsExactly(1);
    }

    /** Neither controls nor long texts reach the database. */
    @Test
    void aDetailIsOneLineOfBoundedLength() {
        Lease lease = sentAndClaimed("42");

        this.store.retry(lease, Duration.ZERO, "a\u0000b" + "x".repeat(10_000) + "\nsecond").join();

        assertThat(this.rows.get(0).detail()).startsWith("a?bx").hasSize(HistoryRecorder.DETAIL_LIMIT);
    }

}

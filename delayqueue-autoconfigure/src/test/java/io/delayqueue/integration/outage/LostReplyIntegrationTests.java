package io.delayqueue.integration.outage;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.IntStream;

import io.delayqueue.CancelResult;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.DelayedMessage;
import io.delayqueue.MessageState;
import io.delayqueue.OnDuplicate;
import io.delayqueue.QueueName;
import io.delayqueue.QueueStatistics;
import io.delayqueue.RedriveResult;
import io.delayqueue.RescheduleResult;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.StoredMessage;
import io.delayqueue.fixtures.application.Application;
import io.delayqueue.fixtures.application.Applications;
import io.delayqueue.fixtures.application.OrderHandler.Order;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.redis.ReplyLossProxy;
import io.delayqueue.fixtures.redis.TcpProxy;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.DeadLetterRequest;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.Lease;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionTarget;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * P11: Redis runs a script and its answer is lost. The client connects again and repeats
 * the call, which leaves the state of one run and, while the queue holds the message,
 * answers as the first time. P5, P7 and P8 hold through it.
 */
@Tag("server")
class LostReplyIntegrationTests {

    private static final Partition ORDERS = Partition.first(new QueueName("orders"));

    private static final Duration LEASE = Duration.ofMinutes(1);

    private static final Duration FAR = Duration.ofHours(1);

    private static final String ID = "the-order";

    private final RedisServer redis = RedisServer.shared(RedisBinary.preferred());

    @RegisterExtension
    final Applications applications = new Applications();

    private final AtomicInteger warmUps = new AtomicInteger();

    private ReplyLossProxy loss;

    private Application application;

    private MessageStore store;

    @BeforeEach
    void start() {
        this.loss = new ReplyLossProxy(this.redis.port());
        this.application = this.applications.start(Applications.SenderConfiguration.class,
                Applications.at(this.loss.port()));
        this.store = this.application.context().getBean(MessageStore.class);
    }

    @AfterEach
    void stop() {
        this.applications.close();
        this.loss.close();
        assertThat(this.applications.keys(this.redis)).isEmpty();
    }

    @Test
    void aSendStoresOneMessageAndReturnsScheduled() {
        SendResult sent = replayed(() -> send(message(1)));

        assertThat(sent).isEqualTo(new SendResult("orders", ID, sent.dueAt(), SendOutcome.SCHEDULED));
        assertThat(find().dueAt()).isEqualTo(sent.dueAt());
        assertThat(statistics().scheduled()).isEqualTo(1);
        assertThat(cancel()).isEqualTo(CancelResult.CANCELLED);
    }

    @Test
    void aSendWithAGeneratedIdStoresOneMessage() {
        this.loss.next("EVALSHA");
        SendResult sent = this.application.queue().send("orders", new Order(1), FAR);

        assertThat(this.loss.isPending()).isFalse();
        assertThat(sent.outcome()).isEqualTo(SendOutcome.SCHEDULED);
        assertThat(statistics().scheduled()).isEqualTo(1);
        assertThat(this.application.queue().cancel("orders", sent.id())).isEqualTo(CancelResult.CANCELLED);
    }

    @Test
    void sendsThatShareACallAreStoredOnceEach() {
        warmUp();
        this.loss.next("\"number\":20");
        List<CompletableFuture<SendResult>> sent = IntStream.rangeClosed(1, 30)
            .mapToObj((number) -> this.application.queue()
                .sendAsync(DelayedMessage.builder("orders", new Order(number)).delay(FAR).build()))
            .toList();

        assertThat(sent).extracting((result) -> result.join().outcome()).containsOnly(SendOutcome.SCHEDULED);
        assertThat(this.loss.isPending()).isFalse();
        assertThat(statistics().scheduled()).isEqualTo(30);
        assertThat(sent).extracting((result) -> this.application.queue().cancel("orders", result.join().id()))
            .containsOnly(CancelResult.CANCELLED);
    }

    @Test
    void aSendThatAResetLeftUnknownCanBeRepeatedWithItsId() {
        try (TcpProxy proxy = TcpProxy.to(this.redis)) {
            Application sender = this.applications.start(Applications.SenderConfiguration.class,
                    Applications.at(proxy.port()));
            // The first send of a process also notes the queue, whose reply is not meant.
            SendResult first = sender.queue().send("orders", new Order(0), FAR);
            sender.queue().cancel("orders", first.id());
            warmUp();
            proxy.loseReplyTo(ID);

            assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> sender.queue().send(message(1)))
                .satisfies((ex) -> assertThat(ex.effect()).isEqualTo(Effect.UNKNOWN));
            Instant due = find().dueAt();
            Applications.await(() -> assertThat(sender.queue().send(message(1)))
                .isEqualTo(new SendResult("orders", ID, due, SendOutcome.KEPT)));
            assertThat(statistics().scheduled()).isEqualTo(1);
            assertThat(cancel()).isEqualTo(CancelResult.CANCELLED);
        }
    }

    @Test
    void aReplacingSendReturnsReplaced() {
        send(message(1));
        SendResult sent = replayed(
                () -> send(message(2).toBuilder().onDuplicate(OnDuplicate.REPLACE).priority(7).build()));

        assertThat(sent.outcome()).isEqualTo(SendOutcome.REPLACED);
        assertThat(find().payload()).isEqualTo("{\"number\":2}");
        assertThat(find().dueAt()).isEqualTo(sent.dueAt());
        assertThat(find().priority()).isEqualTo(7);
        assertThat(cancel()).isEqualTo(CancelResult.CANCELLED);
    }

    @Test
    void aSendToALeasedMessageReturnsAfterCurrent() {
        Lease lease = leased();
        SendResult sent = replayed(() -> send(following(2)));

        assertThat(sent.outcome()).isEqualTo(SendOutcome.AFTER_CURRENT);
        assertThat(this.store.acknowledge(ORDERS, List.of(lease)).join()).containsExactly(true);
        assertThat(find().payload()).isEqualTo("{\"number\":2}");
        assertThat(cancel()).isEqualTo(CancelResult.CANCELLED);
    }

    @Test
    void aSendToALeasedMessageIsKeptOut() {
        Lease lease = leased();
        SendResult sent = replayed(() -> send(message(2)));

        assertThat(sent.outcome()).isEqualTo(SendOutcome.KEPT);
        assertThat(this.store.acknowledge(ORDERS, List.of(lease)).join()).containsExactly(true);
        assertThat(statistics()).isEqualTo(empty());
    }

    @Test
    @Tag("matrix")
    void anAcknowledgementRemovesTheMessage() {
        Lease lease = leased();
        replayed(() -> this.store.acknowledge(ORDERS, List.of(lease)).join());

        assertThat(statistics()).isEqualTo(empty());
    }

    @Test
    @Tag("matrix")
    void anAcknowledgementPromotesTheSuccessorOnce() {
        Lease lease = leased();
        send(following(2));
        replayed(() -> this.store.acknowledge(ORDERS, List.of(lease)).join());

        assertThat(find().payload()).isEqualTo("{\"number\":2}");
        assertThat(find().state()).isEqualTo(MessageState.SCHEDULED);
        assertThat(cancel()).isEqualTo(CancelResult.CANCELLED);
    }

    @Test
    @Tag("matrix")
    void aRetryCountsOneFailure() {
        Lease lease = leased();
        boolean done = replayed(() -> this.store.retry(lease, FAR, "boom").join());

        assertThat(done).isTrue();
        assertThat(find().failures()).isEqualTo(1);
        assertThat(cancel()).isEqualTo(CancelResult.CANCELLED);
    }

    @Test
    @Tag("matrix")
    void aReleaseCountsNoAttempt() {
        Lease lease = leased();
        List<Boolean> done = replayed(() -> this.store.release(ORDERS, List.of(lease), FAR).join());

        assertThat(done).containsExactly(true);
        assertThat(find().failures()).isZero();
        assertThat(find().state()).isEqualTo(MessageState.SCHEDULED);
        assertThat(cancel()).isEqualTo(CancelResult.CANCELLED);
    }

    @Test
    @Tag("matrix")
    void aDeadLetterIsWrittenOnce() {
        Lease lease = leased();
        boolean done = replayed(
                () -> this.store.deadLetter(lease, new DeadLetterRequest("boom", true, Instant.EPOCH)).join());

        assertThat(done).isTrue();
        assertThat(statistics()).isEqualTo(new QueueStatistics("orders", 0, 0, 0, 1, null));
        assertThat(this.store.purge(ORDERS, lease.deadLetterId()).join()).isTrue();
    }

    @Test
    @Tag("matrix")
    void anExtensionHolds() {
        Lease lease = leased();
        List<Boolean> done = replayed(() -> this.store.extend(ORDERS, List.of(lease), FAR).join());

        assertThat(done).containsExactly(true);
        assertThat(find().leasedUntil()).isAfter(Applications.timeOf(this.redis.commands()).plus(FAR).minusSeconds(60));
        assertThat(this.store.acknowledge(ORDERS, List.of(lease)).join()).containsExactly(true);
    }

    @Test
    @Tag("matrix")
    void aStartIsRecorded() {
        Lease lease = leased();
        assertThat(replayed(() -> this.store.start(lease).join())).isTrue();

        assertThat(this.store.acknowledge(ORDERS, List.of(lease)).join()).containsExactly(true);
    }

    @Test
    @Tag("matrix")
    void aCancelRemovesTheMessageAndItsRepetitionIsACallOfItsOwn() {
        send(message(1));
        assertThat(replayed(this::cancel)).isEqualTo(CancelResult.NOT_FOUND);

        assertThat(statistics()).isEqualTo(empty());
    }

    @Test
    @Tag("matrix")
    void aCancelOfALeasedMessageForbidsItsRetry() {
        Lease lease = leased();
        assertThat(replayed(this::cancel)).isEqualTo(CancelResult.LEASED);

        assertThat(this.store.retry(lease, FAR, "boom").join()).isTrue();
        assertThat(statistics()).isEqualTo(empty());
    }

    @Test
    @Tag("matrix")
    void aRescheduleHolds() {
        send(message(1));
        Instant due = Instant.ofEpochMilli(Instant.now().plus(FAR).toEpochMilli());
        RescheduleResult result = replayed(() -> this.application.queue().reschedule("orders", ID, due));

        assertThat(result).isEqualTo(RescheduleResult.RESCHEDULED);
        assertThat(find().dueAt()).isEqualTo(due);
        assertThat(cancel()).isEqualTo(CancelResult.CANCELLED);
    }

    @Test
    @Tag("matrix")
    void aRedriveSchedulesOneMessage() {
        Lease lease = leased();
        this.store.deadLetter(lease, new DeadLetterRequest("boom", true, Instant.EPOCH)).join();
        RedriveResult result = replayed(
                () -> this.store.redrive(PartitionTarget.first(ORDERS.queue()), lease.deadLetterId()).join());

        assertThat(result).isEqualTo(RedriveResult.REDRIVEN);
        assertThat(statistics().scheduled()).isEqualTo(1);
        assertThat(statistics().dead()).isZero();
        assertThat(cancel()).isEqualTo(CancelResult.CANCELLED);
    }

    @Test
    void aClaimCostsItsMessagesOneLeaseAndNothingElse() {
        send(message(1).toBuilder().delay(Duration.ZERO).build());
        awaitDue();
        Duration lease = Duration.ofSeconds(4);
        warmUp();
        this.loss.next(":{orders}:messages");
        ClaimResult repeated = this.store.claim(ORDERS, new ClaimRequest(10, lease, ExpiryPolicy.DROP)).join();

        assertThat(this.loss.isPending()).isFalse();
        assertThat(repeated.messages()).isEmpty();
        Applications.await(() -> {
            ClaimResult later = this.store.claim(ORDERS, new ClaimRequest(10, LEASE, ExpiryPolicy.DROP)).join();
            assertThat(later.messages()).hasSize(1);
            assertThat(later.messages().get(0).redelivered()).isTrue();
            assertThat(later.messages().get(0).lapses()).isZero();
            assertThat(later.messages().get(0).failures()).isZero();
            this.store.acknowledge(ORDERS, List.of(later.messages().get(0).lease())).join();
        });
    }

    private <T> T replayed(Supplier<T> call) {
        warmUp();
        this.loss.next(ID);
        T answer = call.get();
        assertThat(this.loss.isPending()).as("no reply was lost").isFalse();
        return answer;
    }

    /** Has Redis know all scripts, or the reply lost would be that it does not. */
    private void warmUp() {
        Partition other = Partition.first(new QueueName("warm-up-" + this.warmUps.incrementAndGet()));
        Lease none = new Lease(other, "none", "1");
        this.application.queue().send(DelayedMessage.builder(other.queue().value(), 1).id("other").priority(3).build());
        this.store.cancel(PartitionTarget.first(other.queue()), "other").join();
        this.store.claim(other, new ClaimRequest(1, LEASE, ExpiryPolicy.DROP)).join();
        this.store.acknowledge(other, List.of(none)).join();
        this.store.retry(none, FAR, "none").join();
        this.store.release(other, List.of(none), FAR).join();
        this.store.extend(other, List.of(none), FAR).join();
        this.store.start(none).join();
        this.store.deadLetter(none, new DeadLetterRequest("none", false, Instant.EPOCH)).join();
        this.store.redrive(PartitionTarget.first(other.queue()), "none~1").join();
        this.application.queue().reschedule(other.queue().value(), "other", FAR);
    }

    private static DelayedMessage message(int number) {
        return DelayedMessage.builder("orders", new Order(number)).id(ID).delay(FAR).build();
    }

    private static DelayedMessage following(int number) {
        return message(number).toBuilder().onDuplicate(OnDuplicate.AFTER_CURRENT).build();
    }

    private SendResult send(DelayedMessage message) {
        return this.application.queue().send(message);
    }

    private CancelResult cancel() {
        return this.application.queue().cancel("orders", ID);
    }

    private StoredMessage find() {
        return this.application.queue().find("orders", ID).orElseThrow();
    }

    private QueueStatistics statistics() {
        return this.application.queue().statistics("orders");
    }

    private static QueueStatistics empty() {
        return new QueueStatistics("orders", 0, 0, 0, 0, null);
    }

    private void awaitDue() {
        Applications.awaitTrue("it is due", () -> statistics().due() == 1);
    }

    private Lease leased() {
        send(message(1).toBuilder().delay(Duration.ZERO).build());
        awaitDue();
        return this.store.claim(ORDERS, new ClaimRequest(1, LEASE, ExpiryPolicy.DROP)).join().messages().get(0).lease();
    }

}

package io.delayqueue.integration.outage;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.IntStream;

import io.delayqueue.CancelResult;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedMessage;
import io.delayqueue.QueueName;
import io.delayqueue.QueueStatistics;
import io.delayqueue.admin.DelayQueueInspector;
import io.delayqueue.admin.DelayQueueIntegrityChecker;
import io.delayqueue.fixtures.application.Applications;
import io.delayqueue.fixtures.application.OrderHandler.Order;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.redis.ReplyLossProxy;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.DeadLetterRequest;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.Lease;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PrimaryPollerBid;
import io.delayqueue.store.SecretStore;
import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assertions.assertThat;

/** Holds the cases of {@link ReplayedScriptTests}, and their common code. */
abstract class ReplayedCases {

    static final Partition ORDERS = Partition.first(new QueueName("orders"));

    static final Duration LEASE = Duration.ofMinutes(1);

    static final Duration FAR = Duration.ofHours(1);

    static final PrimaryPollerBid BID = new PrimaryPollerBid("one", PrimaryPollerBid.Kind.ACQUIRE, 0, LEASE);

    final RedisServer redis;

    final Applications applications;

    final ReplyLossProxy loss;

    final DelayQueueOperations queue;

    final MessageStore store;

    final SecretStore secrets;

    final DelayQueueInspector inspector;

    final DelayQueueIntegrityChecker checker;

    private final ReplayedApplication replayed;

    ReplayedCases(ReplayedApplication replayed) {
        this.replayed = replayed;
        this.redis = replayed.redis();
        this.applications = replayed.applications();
        this.loss = replayed.loss();
        this.queue = replayed.application().queue();
        this.store = replayed.bean(MessageStore.class);
        this.secrets = replayed.bean(SecretStore.class);
        this.inspector = replayed.bean(DelayQueueInspector.class);
        this.checker = replayed.bean(DelayQueueIntegrityChecker.class);
    }

    /** Returns the cases by the names of their scripts. */
    abstract Map<String, Runnable> cases();

    <T> T repeated(String script, Supplier<T> call) {
        return this.replayed.repeated(script, call);
    }

    static List<DelayedMessage> plain(int count, Duration delay) {
        return IntStream.range(0, count)
            .mapToObj((i) -> DelayedMessage.builder("orders", new Order(i)).id("m-" + i).delay(delay).build())
            .toList();
    }

    static List<DelayedMessage> grouped(int count, Duration delay) {
        return IntStream.range(0, count).mapToObj((i) -> grouped("m-" + i, delay)).toList();
    }

    static DelayedMessage grouped(String id, Duration delay) {
        return DelayedMessage.builder("orders", new Order(1)).id(id).group("g").delay(delay).build();
    }

    List<Lease> leased(int count) {
        this.queue.sendAll(plain(count, Duration.ZERO));
        return leases(claimed(count));
    }

    /** The lease of the head of a group with one follower. */
    Lease leasedHead() {
        this.queue.sendAll(List.of(grouped("head", Duration.ZERO), grouped("follower", FAR)));
        return claimed(1).get(0).lease();
    }

    static List<Lease> leases(List<ClaimedMessage> messages) {
        return messages.stream().map(ClaimedMessage::lease).toList();
    }

    /** Claims once that many are due, or their leases have run out. */
    List<ClaimedMessage> claimed(int count) {
        List<ClaimedMessage> claimed = new ArrayList<>();
        Applications.await(() -> {
            claimed.addAll(claim(LEASE, null).messages());
            assertThat(claimed).hasSize(count);
        });
        return claimed;
    }

    ClaimResult claim(Duration lease, @Nullable PrimaryPollerBid bid) {
        ClaimRequest request = (bid != null) ? new ClaimRequest(10, lease, ExpiryPolicy.DROP, bid)
                : new ClaimRequest(10, lease, ExpiryPolicy.DROP);
        return this.store.claim(ORDERS, request).join();
    }

    static DeadLetterRequest deadLetterRequest() {
        return new DeadLetterRequest("boom", true, Instant.EPOCH);
    }

    /** Scheduled, leased, dead. */
    List<Long> counts() {
        QueueStatistics statistics = this.queue.statistics("orders");
        return List.of(statistics.scheduled(), statistics.leased(), statistics.dead());
    }

    void awaitDue() {
        Applications.awaitTrue("it is due", () -> this.queue.statistics("orders").due() > 0);
    }

    void cancelAll(int count) {
        cancelled(IntStream.range(0, count).mapToObj((i) -> "m-" + i).toArray(String[]::new));
    }

    void cancelled(String... ids) {
        for (String id : ids) {
            assertThat(this.queue.cancel("orders", id)).as(id).isEqualTo(CancelResult.CANCELLED);
        }
    }

}

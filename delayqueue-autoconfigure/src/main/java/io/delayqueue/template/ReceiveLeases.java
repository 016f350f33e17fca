package io.delayqueue.template;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.stream.Collectors;

import io.delayqueue.DeadLetterEvent;
import io.delayqueue.DelayQueueException;
import io.delayqueue.QueueName;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.DeadLetterReason;
import io.delayqueue.store.ExpiredMessagesLog;
import io.delayqueue.store.ExpiredMessagesLogs;
import io.delayqueue.store.Lease;
import io.delayqueue.store.MessageEventListener;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.Partition;
import io.delayqueue.store.QueueEventListener;
import io.delayqueue.store.Texts;
import io.delayqueue.store.routing.DelayQueueStore;
import io.delayqueue.store.routing.PartitionRouter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.context.ApplicationEventPublisher;

/**
 * Acquires and ends leases. Releases a lease that arrives after the caller has stopped
 * waiting, because of an interrupt or the wait limit. If the client itself gave up the
 * claim, as Lettuce does at its command timeout, the lease is not known and lapses.
 * Thread-safe.
 */
final class ReceiveLeases {

    private static final Logger logger = LoggerFactory.getLogger(ReceiveLeases.class);

    private static final int MAX_FAILURE = 4000;

    private static final int MAX_LINE = 500;

    private final MessageStore store;

    private final MessageEventListener told;

    private final PartitionRouter router;

    private final BlockingStoreCalls calls;

    private final ApplicationEventPublisher events;

    private final ExpiredMessagesLogs expirations = new ExpiredMessagesLogs(System::nanoTime);

    ReceiveLeases(DelayQueueStore ports, PartitionRouter router, BlockingStoreCalls calls,
            ApplicationEventPublisher events) {
        this.store = ports.messages();
        this.told = ports.events();
        this.router = router;
        this.calls = calls;
        this.events = events;
    }

    /**
     * Returns the partitions that may hold messages of a queue, by this layout version or
     * a later one.
     */
    List<Partition> partitions(QueueName queue, int version) throws InterruptedException {
        return this.calls.awaitInterruptibly(this.router.all(queue, version), "partitions");
    }

    /**
     * Claims one message. If an interrupt or the wait limit ends the wait early, a
     * message that arrives later is released. After a failed claim, including a timeout
     * of Lettuce, the lease of a claimed message lapses.
     */
    ClaimResult claimOne(Partition partition, ReceiveSettings settings) throws InterruptedException {
        ClaimResult claim = awaitOrGiveBack(
                this.store.claim(partition,
                        new ClaimRequest(1, MessageWriter.wholeMillis(settings.lease()), settings.expired())),
                "claim", (late) -> late.messages().forEach(this::giveBack));
        this.router.noticed(partition, claim.partitionsVersion());
        QueueEventListener told = this.told.of(partition.queue());
        if (claim.expired() > 0) {
            told.expired(claim.expired());
        }
        String summary = this.expirations.add(partition.queue(), claim, settings.expired());
        if (summary != null) {
            logger.warn(summary);
        }
        claim.messages().stream().filter(ClaimedMessage::suspect).forEach((message) -> told.redelivered());
        claim.buried().forEach((death) -> {
            told.died();
            if (!ExpiredMessagesLog.isExpired(death)) {
                logger.error("Message '{}' of queue '{}' is dead: {}", death.id(), death.queue(), death.reason());
            }
            publish(death);
        });
        return claim;
    }

    /**
     * Records the start of a redelivered message; returns {@code false} if the lease has
     * ended.
     */
    boolean start(ClaimedMessage message) throws InterruptedException {
        Lease lease = message.lease();
        return known(lease, awaitOrGiveBack(this.store.start(lease), "start", (late) -> giveBack(message)));
    }

    private <T> T awaitOrGiveBack(CompletableFuture<T> answer, String operation, Consumer<T> giveBack)
            throws InterruptedException {
        try {
            return this.calls.awaitInterruptibly(answer, operation);
        }
        catch (InterruptedException | DelayQueueException ex) {
            answer.thenAccept(giveBack);
            throw ex;
        }
    }

    /**
     * Releases a message that was not returned to the caller, without waiting for the
     * store.
     */
    void giveBack(ClaimedMessage message) {
        Lease lease = message.lease();
        this.store.release(lease.partition(), List.of(message.dueLease())).whenComplete((released, failure) -> {
            if (failure != null) {
                logger.warn("Cannot give back message '{}' of queue '{}'; it is due again when its lease runs out",
                        lease.id(), lease.queue(), failure);
            }
        });
    }

    boolean acknowledge(Lease lease) {
        return known(lease,
                this.calls.await(this.store.acknowledge(lease.partition(), List.of(lease)), "acknowledge").get(0));
    }

    boolean retry(Lease lease, Duration delay, String failure) {
        boolean retried = known(lease,
                this.calls.await(this.store.retry(lease, delay, cut(failure, MAX_FAILURE)), "retry"));
        if (retried) {
            this.told.of(lease.queue()).retried();
        }
        return retried;
    }

    boolean release(ClaimedMessage message, Duration delay) {
        Lease lease = message.lease();
        return known(lease,
                this.calls.await(delay.isZero() ? this.store.release(lease.partition(), List.of(message.dueLease()))
                        : this.store.release(lease.partition(), List.of(lease), delay), "release")
                    .get(0));
    }

    boolean extend(Lease lease, Duration leaseTime) {
        return known(lease,
                this.calls.await(this.store.extend(lease.partition(), List.of(lease), leaseTime), "extend").get(0));
    }

    /** Publishes a rejection by the store if the lease has ended. */
    private boolean known(Lease lease, boolean held) {
        if (!held) {
            this.told.of(lease.queue()).refused();
        }
        return held;
    }

    /** Dead-letters a message, and publishes that. */
    boolean deadLetter(ClaimedMessage message, String cause, boolean failed) {
        CompletableFuture<Boolean> answer = this.store.deadLetter(message.lease(),
                new DeadLetterReason(cut(cause, MAX_FAILURE), failed, message.dueAt()));
        boolean dead = known(message.lease(), this.calls.await(answer, "deadLetter"));
        if (dead) {
            this.told.of(message.lease().queue()).died();
            tell(message, cut(cause.lines().collect(Collectors.joining(" ")), MAX_LINE), failed);
        }
        return dead;
    }

    private void tell(ClaimedMessage message, String reason, boolean failed) {
        Lease lease = message.lease();
        int failures = message.failures() + (failed ? 1 : 0);
        logger.error("Message '{}' of queue '{}' is dead after {} and {}: {}", lease.id(), lease.queue(),
                Texts.count(failures, "failure"), Texts.count(message.lapses(), "lapse"), reason);
        publish(new DeadLetterEvent(lease.queue().value(), lease.id(), lease.letterId(), failures, reason));
    }

    private void publish(DeadLetterEvent death) {
        try {
            this.events.publishEvent(death);
        }
        catch (RuntimeException ex) {
            logger.warn("A listener of DeadLetterEvent failed for message '{}' of queue '{}', which stays dead",
                    death.id(), death.queue(), ex);
        }
    }

    private static String cut(String text, int length) {
        return (text.length() <= length) ? text : text.substring(0, length - 3) + "...";
    }

}

package io.delayqueue.listener.poll;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

import io.delayqueue.StoreUnavailableException;
import io.delayqueue.listener.handler.MessageHandler;
import io.delayqueue.listener.poll.DeliveryProcessor.Admitted;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.Lease;
import io.delayqueue.store.StoreFailures;
import io.delayqueue.store.StoreFutures;
import io.delayqueue.store.Texts;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks which messages of a task the handler may receive, by lease, expiry, attempts and
 * lapses, and converts them for the call. Settles each of the others alone: those that
 * have expired, lapsed or failed too often, or cannot be read, and those whose leases
 * have ended here.
 * <p>
 * <strong>Threads.</strong> Runs on handler threads, which wait here for the store.
 * Stateless.
 */
final class HandlerAdmission {

    private static final Logger logger = LoggerFactory.getLogger(HandlerAdmission.class);

    private final PartitionBinding binding;

    private final PollLoopContext context;

    private final MessageSettler settler;

    private final FailurePolicy failures;

    private final PollLoopLog log;

    HandlerAdmission(PartitionBinding binding, PollLoopContext context, MessageSettler settler,
            FailurePolicy failures) {
        this.binding = binding;
        this.context = context;
        this.settler = settler;
        this.failures = failures;
        this.log = new PollLoopLog(binding, context);
    }

    /** Returns the messages that the handler receives now. */
    List<Admitted> admit(HandlerTask task) {
        if (task.size() == 1) {
            Admitted message = prepare(task.messages().get(0));
            return (message != null && start(message, this.context.now())) ? List.of(message) : List.of();
        }
        List<Admitted> prepared = new ArrayList<>(task.size());
        for (InFlightMessage inFlight : task.messages()) {
            Admitted message = prepareIsolated(inFlight);
            if (message != null) {
                prepared.add(message);
            }
        }
        // Preparing the last message delays the first.
        long now = this.context.now();
        prepared.removeIf((message) -> !start(message, now));
        return prepared;
    }

    /** Checks the lease right before the handler, as preparation takes time. */
    private boolean start(Admitted message, long now) {
        InFlightMessage inFlight = message.inFlight();
        if (!inFlight.isLive(now)) {
            this.settler.releaseLate(inFlight);
            return false;
        }
        this.binding.started(inFlight.lateness(now));
        return true;
    }

    private boolean checkPreconditions(InFlightMessage inFlight) {
        ClaimedMessage message = inFlight.message();
        if (!inFlight.isLive(this.context.now())) {
            this.settler.releaseLate(inFlight);
            return false;
        }
        Instant expiresAt = message.expiresAt();
        if (expiresAt != null && !inFlight.storeTime(this.context.now()).isBefore(expiresAt)) {
            this.settler.expired(inFlight);
            return false;
        }
        ListenerSettings settings = this.binding.settings();
        if (message.lapses() >= settings.maxLapses()) {
            this.settler.deadLetter(inFlight,
                    ("Its lease ran out %s while it was handled (max-lapses is %d): "
                            + "its handler may end or stall the process")
                        .formatted(Texts.count(message.lapses(), "time"), settings.maxLapses()));
            return false;
        }
        if (message.failures() >= settings.maxAttempts()) {
            this.settler.deadLetter(inFlight, "It has failed %s (max-attempts is %d)"
                .formatted(Texts.count(message.failures(), "time"), settings.maxAttempts()));
            return false;
        }
        return true;
    }

    /** Prepares a message of a batch, whose failure concerns no other message. */
    private @Nullable Admitted prepareIsolated(InFlightMessage inFlight) {
        try {
            return prepare(inFlight);
        }
        catch (Throwable ex) {
            inFlight.stopRenewing();
            logger.error("Cannot process message '{}' of queue '{}'; to be handled again when its lease runs out",
                    inFlight.lease().id(), inFlight.lease().queue(), ex);
            return null;
        }
    }

    /** Reads a message; returns {@code null} if it was settled or must not start. */
    private @Nullable Admitted prepare(InFlightMessage inFlight) {
        if (!checkPreconditions(inFlight)) {
            return null;
        }
        if (inFlight.message().redelivered() && !recordStart(inFlight)) {
            // Ends with its lease, however long the other messages of a batch take.
            inFlight.stopRenewing();
            return null;
        }
        DefaultDelivery delivery = new DefaultDelivery(inFlight, this.binding, this.context);
        try {
            MessageHandler.Call call = this.binding.handler().prepare(inFlight.message(), delivery);
            return new Admitted(inFlight, delivery, call);
        }
        catch (Exception ex) {
            this.settler.unreadable(inFlight, this.failures.ofUnreadable(delivery, ex), ex);
        }
        catch (Error ex) {
            // An error indicates a problem of this process rather than of the message.
            this.binding.counters().failed.increment();
            this.settler.failed(inFlight, this.failures.ofFailure(delivery, ex), ex);
        }
        return null;
    }

    /**
     * Records the start of a redelivered message; {@code false} if it must not start.
     */
    private boolean recordStart(InFlightMessage inFlight) {
        Lease lease = inFlight.lease();
        try {
            boolean recorded = StoreFutures.send(() -> this.context.store().start(lease)).join();
            if (!recorded) {
                this.log.leaseLost(inFlight, "its handler was to start");
            }
            return recorded;
        }
        catch (RuntimeException ex) {
            Throwable cause = StoreFailures.unwrap(ex);
            boolean unanswered = cause instanceof StoreUnavailableException;
            logger.warn(
                    "Cannot start the handler of message '{}' of queue '{}'; it is handled when {}its lease runs "
                            + "out: {}",
                    lease.id(), lease.queue(), unanswered ? "it is released, or " : "", cause.toString());
            if (unanswered) {
                // The start may be recorded, and the end of this lease would count as a
                // lapse. After a refusal, each claim would be followed by another one.
                this.settler.releaseUnstarted(inFlight);
            }
            return false;
        }
    }

}

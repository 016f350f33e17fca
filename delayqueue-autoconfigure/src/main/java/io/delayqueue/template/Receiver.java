package io.delayqueue.template;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import java.util.function.LongSupplier;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.PayloadConversionException;
import io.delayqueue.QueueName;
import io.delayqueue.ReceivedMessage;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.Partition;
import io.delayqueue.store.envelope.Envelope;
import io.delayqueue.store.envelope.EnvelopeCodec;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Claims one message for a caller, or waits for one. Between two polls it sleeps until
 * the earliest of: the time returned by the last claim, a wake-up, the safety poll, the
 * end of the caller's timeout. Thread-safe; blocks the caller's thread.
 */
final class Receiver {

    private static final Logger logger = LoggerFactory.getLogger(Receiver.class);

    private static final long FIRST_BACKOFF = Duration.ofMillis(50).toNanos();

    private static final long LONGEST_BACKOFF = Duration.ofMillis(500).toNanos();

    /** Minimum time between two polls, even if the store reports that more is due now. */
    private static final long SHORTEST_PAUSE = Duration.ofMillis(1).toNanos();

    private final ReceiveLeases leases;

    private final WakeUpWaiters bells;

    private final EnvelopeCodec codec;

    private final Function<QueueName, ReceiveSettings> settings;

    private final LongSupplier nanoTime;

    Receiver(ReceiveLeases leases, WakeUpWaiters bells, EnvelopeCodec codec,
            Function<QueueName, ReceiveSettings> settings, LongSupplier nanoTime) {
        this.leases = leases;
        this.bells = bells;
        this.codec = codec;
        this.settings = settings;
        this.nanoTime = nanoTime;
    }

    Optional<ReceivedMessage> receive(QueueName queue, Duration timeout) {
        Search search = new Search(queue, this.settings.apply(queue), this.nanoTime.getAsLong() + timeout.toNanos());
        try {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            // A message that is due now needs no subscription.
            Optional<ReceivedMessage> found = search.look();
            return (found.isPresent() || search.isOver()) ? search.conclude(found) : lookAndWait(search);
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }

    private Optional<ReceivedMessage> lookAndWait(Search search) throws InterruptedException {
        try (WakeUpWaiters.Ear ear = this.bells.listen(search.queue)) {
            while (true) {
                long heard = ear.strokes();
                ear.hear(search.partitions());
                Optional<ReceivedMessage> found = search.look();
                if (found.isPresent() || search.isOver()) {
                    return search.conclude(found);
                }
                ear.await(heard, Math.min(search.pause, search.left()));
            }
        }
    }

    /** Holds the state of one call of {@code receive}; used only by its thread. */
    private final class Search {

        private final QueueName queue;

        private final ReceiveSettings settings;

        private final long deadline;

        private long pause;

        private long backoff = FIRST_BACKOFF;

        /** The latest layout version that a claim returned. */
        private int version;

        private boolean reached;

        private @Nullable StoreUnavailableException outage;

        Search(QueueName queue, ReceiveSettings settings, long deadline) {
            this.queue = queue;
            this.settings = settings;
            this.deadline = deadline;
        }

        long left() {
            return this.deadline - Receiver.this.nanoTime.getAsLong();
        }

        boolean isOver() {
            return left() <= 0;
        }

        Optional<ReceivedMessage> conclude(Optional<ReceivedMessage> found) {
            if (found.isEmpty() && !this.reached && this.outage != null) {
                throw this.outage;
            }
            return found;
        }

        /**
         * Returns the partitions that may hold messages; none while the layout is not
         * known.
         */
        List<Partition> partitions() throws InterruptedException {
            try {
                return Receiver.this.leases.partitions(this.queue, this.version);
            }
            catch (StoreUnavailableException ex) {
                backOff(ex);
                return List.of();
            }
        }

        /**
         * Polls all partitions, starting with a random one, including those that it
         * learns of in the meantime.
         */
        Optional<ReceivedMessage> look() throws InterruptedException {
            this.pause = Long.MAX_VALUE;
            Set<Partition> done = new HashSet<>();
            while (true) {
                List<Partition> partitions = new ArrayList<>(partitions());
                partitions.removeAll(done);
                if (partitions.isEmpty()) {
                    return Optional.empty();
                }
                Collections.rotate(partitions, ThreadLocalRandom.current().nextInt(partitions.size()));
                for (Partition partition : partitions) {
                    StoreUnavailableException before = this.outage;
                    Optional<ReceivedMessage> found = look(partition);
                    // Each partition that does not answer takes a full time limit.
                    if (found.isPresent() || (this.outage != before && isOver())) {
                        return found;
                    }
                }
                done.addAll(partitions);
            }
        }

        /** Claims until there is a message to return or no more to claim. */
        private Optional<ReceivedMessage> look(Partition partition) throws InterruptedException {
            try {
                // Skipping messages that cannot be returned may exceed the caller's
                // timeout, up to a limit.
                for (int i = 0; i < MessageStore.BATCH_LIMIT || !isOver(); i++) {
                    long sent = Receiver.this.nanoTime.getAsLong();
                    ClaimResult claim = Receiver.this.leases.claimOne(partition, this.settings);
                    this.reached = true;
                    this.version = Math.max(this.version, claim.partitionsVersion());
                    this.backoff = FIRST_BACKOFF;
                    if (claim.messages().isEmpty() && hasMoreToRemove(claim)) {
                        continue;
                    }
                    if (claim.messages().isEmpty()) {
                        this.pause = Math.min(this.pause, pauseAfter(claim));
                        return Optional.empty();
                    }
                    Optional<ReceivedMessage> message = accept(claim.messages().get(0), claim.now(), sent);
                    if (message.isPresent()) {
                        return message;
                    }
                }
            }
            catch (StoreUnavailableException ex) {
                backOff(ex);
            }
            return Optional.empty();
        }

        /** Returns whether the claim only removed messages and more are due. */
        private boolean hasMoreToRemove(ClaimResult claim) {
            Duration nextIn = claim.nextIn();
            return (claim.expired() > 0 || !claim.buried().isEmpty()) && nextIn != null && nextIn.isZero();
        }

        private long pauseAfter(ClaimResult claim) {
            // Random, so that waiters that a wake-up has synchronized spread out again.
            long safetyPoll = this.settings.safetyPoll().toNanos();
            long wait = ThreadLocalRandom.current().nextLong(safetyPoll - safetyPoll / 4, safetyPoll + 1);
            Duration nextIn = claim.nextIn();
            return Math.max(SHORTEST_PAUSE,
                    (nextIn != null && nextIn.compareTo(Duration.ofNanos(wait)) < 0) ? nextIn.toNanos() : wait);
        }

        private void backOff(StoreUnavailableException failure) {
            boolean unknown = this.outage != null && this.outage.effect() == Effect.UNKNOWN;
            if (!unknown) {
                this.outage = failure;
            }
            this.pause = Math.min(this.pause, this.backoff);
            this.backoff = Math.min(this.backoff * 2, LONGEST_BACKOFF);
            logger.debug("Cannot look into queue '{}'; trying again in {} ms", this.queue, this.pause / 1_000_000,
                    failure);
        }

        /**
         * Returns the message for the caller; empty if it was dead-lettered or its lease
         * has ended.
         */
        private Optional<ReceivedMessage> accept(ClaimedMessage message, Instant now, long sent)
                throws InterruptedException {
            Envelope envelope = null;
            String death = message.deathBy(this.settings.maxLapses(), this.settings.maxAttempts());
            if (death == null) {
                try {
                    envelope = Receiver.this.codec.read(message.envelope());
                }
                catch (PayloadConversionException ex) {
                    death = String.valueOf(ex.getMessage());
                }
            }
            if (envelope == null) {
                Receiver.this.leases.deadLetter(message, String.valueOf(death), false);
                return Optional.empty();
            }
            if (message.suspect() && !Receiver.this.leases.start(message)) {
                return Optional.empty();
            }
            if (isTooLate(message, now, sent)) {
                Receiver.this.leases.giveBack(message);
                return Optional.empty();
            }
            ReceivedMessageSupport hands = new ReceivedMessageSupport(Receiver.this.leases, Receiver.this.codec,
                    Receiver.this.nanoTime, this.settings.maxAttempts());
            return Optional
                .of(new LeasedReceivedMessage(message, envelope, hands, sent + this.settings.lease().toNanos()));
        }

        /**
         * Returns whether its lease or its time to live ended before it could be
         * returned.
         */
        private boolean isTooLate(ClaimedMessage message, Instant now, long sent) {
            long elapsed = Receiver.this.nanoTime.getAsLong() - sent;
            return elapsed >= this.settings.lease().toNanos()
                    || (message.expiresAt() != null && !now.plusNanos(elapsed).isBefore(message.expiresAt()));
        }

    }

}

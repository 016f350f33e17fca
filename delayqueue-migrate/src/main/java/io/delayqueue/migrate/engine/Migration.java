package io.delayqueue.migrate.engine;

import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.migrate.MigrationSource;
import io.delayqueue.migrate.PayloadDecoder;
import io.delayqueue.migrate.EntryOutcome;
import io.delayqueue.migrate.SourceEntry;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.json.JsonMapper;

/**
 * Moves entries in batches: takes them out of the source, sends them, and settles them.
 * Entries that an earlier run has taken and not settled are sent first. Not thread-safe.
 */
public final class Migration {

    private static final Logger logger = LoggerFactory.getLogger(Migration.class);

    private static final Duration RETRY_DELAY = Duration.ofSeconds(1);

    /** A target or source that is away for longer ends the run. */
    private static final int MAX_ATTEMPTS = 600;

    /**
     * A queue stays reserved for a few seconds more than this; 10 in the built-in
     * sources.
     */
    private static final Duration RESERVED = Duration.ofSeconds(5);

    /** How often queues are searched that did not exist before. */
    private static final Duration SEARCH_INTERVAL = Duration.ofSeconds(10);

    /** A search may read all names of a Redis, and must not be what the run does most. */
    private static final int PAUSE_PER_SEARCH = 20;

    private static final SecureRandom RANDOM = new SecureRandom();

    private final MigrationSource source;

    private final EntrySender sender;

    private final QueueMapping mapping;

    private final MoveRate rate;

    private final StopSignal stop;

    private final ProgressListener progress;

    private final LongSupplier nanoTime;

    private final Map<String, QueueMoves> moves = new TreeMap<>();

    /** The queues that are reserved for this run. */
    private final Set<String> reserved = new TreeSet<>();

    /**
     * Creates a migration.
     * @param queues the target
     * @param json writes payloads as the target does
     */
    public Migration(MigrationSource source, DelayQueueOperations queues, PayloadDecoder decoder, JsonMapper json,
            Settings settings) {
        this.source = source;
        this.sender = new EntrySender(queues, decoder, json);
        this.mapping = settings.mapping();
        this.rate = settings.rate();
        this.stop = settings.stop();
        this.progress = settings.progress();
        this.nanoTime = settings.nanoTime();
    }

    /** Moves entries until none is left that can be taken. */
    public Map<String, QueueMoves> copy() {
        Map<String, String> targets = targets();
        prepare(targets);
        while (!this.stop.isStopped() && round(targets) > 0) {
            logger.trace("Further entries may wait");
        }
        return this.moves;
    }

    /**
     * Moves entries until the run is stopped, or until none was found for some time.
     * @param poll how long to wait after a round that found nothing
     * @param untilIdle when to end; zero for never
     */
    public Map<String, QueueMoves> follow(Duration poll, Duration untilIdle) {
        Map<String, String> targets = new LinkedHashMap<>();
        long idleRounds = 0;
        long nextSearch = this.nanoTime.getAsLong();
        while (!this.stop.isStopped()) {
            long now = this.nanoTime.getAsLong();
            if (now - nextSearch >= 0) {
                Map<String, String> found = targets();
                nextSearch = nextSearch(now, this.nanoTime.getAsLong());
                found.keySet().removeAll(targets.keySet());
                prepare(found);
                targets.putAll(found);
            }
            if (round(targets) > 0) {
                idleRounds = 0;
                continue;
            }
            idleRounds++;
            if (!untilIdle.isZero() && poll.multipliedBy(idleRounds).compareTo(untilIdle) >= 0) {
                break;
            }
            pause(poll);
        }
        return this.moves;
    }

    private static long nextSearch(long started, long ended) {
        return ended + Math.max(SEARCH_INTERVAL.toNanos(), PAUSE_PER_SEARCH * (ended - started));
    }

    /** Returns the queues to move, each with the queue to which it is moved. */
    public Map<String, String> targets() {
        TreeSet<String> names = new TreeSet<>(retried(this.source::queues));
        names.addAll(this.mapping.names());
        Map<String, String> targets = new LinkedHashMap<>();
        names.forEach((name) -> this.mapping.target(name).ifPresent((target) -> targets.put(name, target)));
        return targets;
    }

    private void prepare(Map<String, String> targets) {
        targets.forEach((queue, target) -> {
            this.moves.put(queue, new QueueMoves());
            if (!SourceReservation.await(() -> own(queue), this.stop)) {
                return;
            }
            this.reserved.add(queue);
            resume(queue, target, true);
            retried(() -> {
                this.source.reopen(queue, this.stop::isStopped);
                return true;
            });
            resume(queue, target, false);
        });
    }

    /** Sends what was taken and is not settled. */
    private void resume(String queue, String target, boolean interrupted) {
        while (!this.stop.isStopped()) {
            List<SourceEntry> entries = retried(() -> this.source.unsettled(queue, this.rate.batch()));
            if (entries.isEmpty()) {
                return;
            }
            if (interrupted) {
                countRepeated(queue, entries.size());
            }
            sendAndSettle(queue, target, entries);
        }
    }

    private int round(Map<String, String> targets) {
        int moved = 0;
        for (Map.Entry<String, String> queue : targets.entrySet()) {
            if (this.stop.isStopped()) {
                break;
            }
            String batch = batchName();
            List<SourceEntry> entries = retried(() -> this.source.take(queue.getKey(), batch, this.rate.batch()));
            if (!entries.isEmpty()) {
                sendAndSettle(queue.getKey(), queue.getValue(), entries);
                moved += entries.size();
            }
        }
        return moved;
    }

    /**
     * Sends entries until each of them is settled. Those that are stored are settled
     * before the others are sent again, as new consumers may handle them meanwhile.
     */
    private void sendAndSettle(String queue, String target, List<SourceEntry> entries) {
        EntrySender.Sent sent = sendAndSettleOnce(queue, target, entries);
        for (int attempt = 1; sent.failure() != null; attempt++) {
            awaitRetry(sent.failure(), attempt);
            // Another process may have sent and settled the entries meanwhile.
            own(queue);
            countRepeated(queue, sent.unknown());
            sent = sendAndSettleOnce(queue, target, sent.open());
        }
        this.progress.moved(queue, entries.size());
        pause(this.rate.after(entries.size()));
    }

    private EntrySender.Sent sendAndSettleOnce(String queue, String target, List<SourceEntry> entries) {
        EntrySender.Sent sent = this.sender.send(target, entries);
        if (!sent.outcomes().isEmpty()) {
            retried(() -> {
                this.source.settle(queue, sent.outcomes());
                return true;
            });
        }
        count(queue, "kept", sent.kept());
        count(queue, "renamed", sent.renamed());
        moves(queue).add(sent);
        return sent;
    }

    /** Counts entries that are sent again, and may have been stored before. */
    private void countRepeated(String queue, int number) {
        count(queue, "repeated", number);
        moves(queue).repeated += number;
    }

    /** Waits, and keeps the queues reserved meanwhile. */
    private void pause(Duration time) {
        Duration left = time;
        while (left.compareTo(RESERVED) > 0 && !this.stop.isStopped()) {
            this.stop.pause(RESERVED);
            left = left.minus(RESERVED);
            this.reserved.forEach(this::own);
        }
        this.stop.pause(left);
    }

    private void own(String queue) {
        retried(() -> {
            this.source.own(queue);
            return true;
        });
    }

    private void count(String queue, String name, int number) {
        if (number > 0) {
            retried(() -> {
                this.source.count(queue, name, number);
                return true;
            });
        }
    }

    private QueueMoves moves(String queue) {
        return this.moves.computeIfAbsent(queue, (name) -> new QueueMoves());
    }

    /**
     * Repeats a call that fails, for ten minutes at most. All calls can be repeated.
     */
    private <T> T retried(Supplier<T> call) {
        for (int attempt = 1;; attempt++) {
            try {
                return call.get();
            }
            catch (RuntimeException ex) {
                awaitRetry(ex, attempt);
            }
        }
    }

    /**
     * Waits before a call that failed is repeated; throws the failure if it must not be.
     */
    private void awaitRetry(RuntimeException failure, int attempt) {
        if (this.stop.isStopped() || attempt == MAX_ATTEMPTS || !isPassing(failure)) {
            throw failure;
        }
        logger.warn("Retrying in {} s: {}", RETRY_DELAY.toSeconds(), failure.getMessage());
        this.stop.pause(RETRY_DELAY);
    }

    /** Returns whether a failure may pass, such as that of a connection. */
    private boolean isPassing(RuntimeException ex) {
        return ex instanceof DelayQueueException || this.source.isPassing(ex);
    }

    private static String batchName() {
        byte[] bytes = new byte[12];
        RANDOM.nextBytes(bytes);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    /**
     * Holds the settings of a run.
     *
     * @param mapping the queues to move
     * @param rate the limits
     * @param stop ends the run
     * @param progress is notified of batches
     * @param nanoTime the time in nanoseconds
     */
    public record Settings(QueueMapping mapping, MoveRate rate, StopSignal stop, ProgressListener progress,
            LongSupplier nanoTime) {
    }

    /** Receives the progress of a run, on its thread. */
    @FunctionalInterface
    public interface ProgressListener {

        /** Receives the number of entries of a batch that were settled. */
        void moved(String queue, int number);

    }

    /** Counts what this run has moved out of a queue. */
    public static final class QueueMoves {

        /** Unreadable entries that are shown. */
        private static final int EXAMPLES = 20;

        private long sent;

        private long dropped;

        private long unreadable;

        private long kept;

        private long renamed;

        private long schedules;

        private long repeated;

        private final List<EntryOutcome> examples = new ArrayList<>();

        private void add(EntrySender.Sent batch) {
            this.kept += batch.kept();
            this.renamed += batch.renamed();
            this.schedules += batch.schedules();
            for (EntryOutcome outcome : batch.outcomes()) {
                switch (outcome.outcome()) {
                    case SENT -> this.sent++;
                    case DROPPED -> this.dropped++;
                    case UNREADABLE -> {
                        this.unreadable++;
                        if (this.examples.size() < EXAMPLES) {
                            this.examples.add(outcome);
                        }
                    }
                }
            }
        }

        /** Returns the number of entries that were sent. */
        public long sent() {
            return this.sent;
        }

        /** Returns the number of entries that need not be moved. */
        public long dropped() {
            return this.dropped;
        }

        /** Returns the number of entries that cannot be moved. */
        public long unreadable() {
            return this.unreadable;
        }

        /** Returns the number of entries that the queue held already. */
        public long kept() {
            return this.kept;
        }

        /** Returns the number of entries that were sent under another id. */
        public long renamed() {
            return this.renamed;
        }

        /** Returns the number of entries that became schedules; they count as sent. */
        public long schedules() {
            return this.schedules;
        }

        /**
         * Returns the number of entries that were sent again: an interrupted run had
         * taken them and may have sent them, or the outcome of their send was not known.
         * New consumers may have handled some, so that these are handled twice.
         */
        public long repeated() {
            return this.repeated;
        }

        /** Returns some of the unreadable entries. */
        public List<EntryOutcome> examples() {
            return List.copyOf(this.examples);
        }

    }

}

package io.delayqueue.migrate.redis;

import java.time.Instant;
import java.util.List;
import java.util.function.BooleanSupplier;

import io.delayqueue.migrate.EntryPage;
import io.delayqueue.migrate.MigrationSource;
import io.delayqueue.migrate.EntryOutcome;
import io.delayqueue.migrate.SourceEntry;
import io.delayqueue.migrate.SourceOptions;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the records of taken entries in the Redis of the source, beside its queue.
 */
abstract class RedisSource implements MigrationSource {

    private @Nullable RedisLink redis;

    @Override
    public void open(SourceOptions options) {
        this.redis = RedisLink.open(options);
    }

    /** Returns the records of a queue. */
    abstract TakenEntries taken(String queue);

    final RedisLink redis() {
        if (this.redis == null) {
            throw new IllegalStateException("The source is not open");
        }
        return this.redis;
    }

    @Override
    public boolean isPassing(RuntimeException failure) {
        return RedisLink.isPassing(failure);
    }

    @Override
    public void own(String queue) {
        taken(queue).own();
    }

    @Override
    public List<SourceEntry> unsettled(String queue, int limit) {
        return taken(queue).unsettled(limit);
    }

    @Override
    public void reopen(String queue, BooleanSupplier stopped) {
        taken(queue).reopen(stopped);
    }

    @Override
    public void settle(String queue, List<EntryOutcome> outcomes) {
        taken(queue).settle(outcomes);
    }

    @Override
    public EntryPage sent(String queue, @Nullable String cursor, int limit) {
        return taken(queue).sent(cursor, limit);
    }

    @Override
    public void count(String queue, String name, long number) {
        taken(queue).count(name, number);
    }

    @Override
    public void finish(String queue, BooleanSupplier stopped) {
        taken(queue).delete(stopped);
    }

    /**
     * Converts a score in milliseconds, which other writers may have given a fraction.
     * One outside of the numbers of Java, such as {@code inf}, becomes the nearest of
     * them: a message that is due too late is unreadable, and the others are not.
     */
    static Instant instant(String score) {
        return Instant.ofEpochMilli((long) Math.ceil(Double.parseDouble(score.replace("inf", "Infinity"))));
    }

    /** Returns a score as text. */
    static String text(double score) {
        return Double.toString(score);
    }

    @Override
    public void close() {
        if (this.redis != null) {
            this.redis.close();
        }
    }

}

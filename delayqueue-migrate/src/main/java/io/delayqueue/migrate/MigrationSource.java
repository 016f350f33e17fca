package io.delayqueue.migrate;

import java.util.List;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;

/**
 * Reads waiting messages from a foreign system, and removes those that it hands out. An
 * entry passes three states: it <em>waits</em> in the source, it is <em>taken</em>, where
 * the movers and consumers of the foreign system no longer find it, and it is
 * <em>settled</em>: sent, dropped or unreadable. The program may be killed between any
 * two calls and repeats them after its restart, so each call must be atomic and
 * repeatable:
 * <ul>
 * <li>{@link #take} moves entries from waiting to taken in one step. A call that is
 * repeated with the same batch returns the same entries and takes no others.</li>
 * <li>{@link #unsettled} returns what was taken and is not settled, also by an earlier
 * run.</li>
 * <li>{@link #settle} counts an entry once, however often it is called.</li>
 * </ul>
 * <p>
 * The program calls a source from one thread, after {@link #open}. A source that is not
 * built in is named by its class: {@code --source=com.example.MySource}. It needs a
 * public constructor without arguments.
 */
public interface MigrationSource extends AutoCloseable {

    /**
     * Connects to the foreign system.
     * @param options the options of the command line that concern the source
     * @throws IllegalArgumentException if an option is missing or not valid; the message
     * names the value and the rule
     */
    void open(SourceOptions options);

    /**
     * Returns whether {@link #take} is possible, so that entries can be moved while the
     * producers and consumers of the source run.
     */
    default boolean canFollow() {
        return true;
    }

    /**
     * Returns whether a failure may pass, such as that of a connection, so that the call
     * is repeated.
     */
    default boolean isPassing(RuntimeException failure) {
        return false;
    }

    /** Returns the queues that hold entries, or from which entries were taken. */
    List<String> queues();

    /** Returns the counts of a queue, as of one moment if the source can do so. */
    SourceStatus status(String queue);

    /**
     * Returns waiting entries without taking them, for samples and dry runs. Their ids
     * are not used.
     * @param queue the queue
     * @param offset number of entries to skip, in an order that stays the same while the
     * source does not change
     * @param limit maximum number of entries
     */
    List<SourceEntry> peek(String queue, long offset, int limit);

    /**
     * Reserves a queue for this process. {@link #take}, {@link #reopen}, {@link #settle}
     * and {@link #finish} extend the reservation, which ends a few seconds after the
     * process does. While the program waits, it calls this method every five seconds.
     * @param queue the queue
     * @throws SourceInUseException if another process has reserved it
     */
    void own(String queue);

    /**
     * Takes waiting entries.
     * @param queue the queue
     * @param batch the name of the batch: 1 to 32 letters, digits, {@code -} and
     * {@code _}, unique to this call and its repetitions
     * @param limit maximum number of entries, 1 to 1,000
     * @return the entries; empty if none waits that may be taken
     */
    List<SourceEntry> take(String queue, String batch, int limit);

    /**
     * Returns entries that were taken and are not settled, in any order.
     * @param queue the queue
     * @param limit maximum number of entries
     */
    List<SourceEntry> unsettled(String queue, int limit);

    /**
     * Makes unreadable entries unsettled again, so that they are decoded once more.
     * @param queue the queue
     * @param stopped returns whether to stop early
     */
    void reopen(String queue, BooleanSupplier stopped);

    /**
     * Records the end of taken entries.
     * @param queue the queue
     * @param outcomes the outcomes
     */
    void settle(String queue, List<EntryOutcome> outcomes);

    /**
     * Returns entries that were sent, so that {@code verify} can look them up in
     * DelayQueue. A source that does not keep them returns none.
     * @param queue the queue
     * @param cursor where the previous page ended; {@code null} for the first page
     * @param limit about how many entries
     */
    default EntryPage sent(String queue, @Nullable String cursor, int limit) {
        return new EntryPage(List.of(), null);
    }

    /**
     * Adds to a count that is kept with the taken entries and is part of the status.
     * @param queue the queue
     * @param name the name of the count
     * @param number what to add
     */
    void count(String queue, String name, long number);

    /**
     * Deletes what is recorded about entries that were taken from a queue. The queue is
     * reserved for this process, and all its entries are settled.
     * @param queue the queue
     * @param stopped returns whether to stop early; the call can be repeated
     * @throws SourceInUseException if another process has reserved the queue meanwhile,
     * or has taken entries, which must not be deleted
     */
    void finish(String queue, BooleanSupplier stopped);

    @Override
    void close();

}

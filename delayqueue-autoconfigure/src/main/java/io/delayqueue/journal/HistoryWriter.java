package io.delayqueue.journal;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

import io.delayqueue.QueueName;
import io.delayqueue.store.DaemonThreads;
import io.delayqueue.store.LogExecutor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.context.SmartLifecycle;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.transaction.TransactionException;

/**
 * Writes the rows of the history asynchronously and in batches, and deletes those whose
 * retention time is over. While the database is away or too slow, rows wait in a buffer
 * of fixed size; those that find it full are dropped and counted.
 * <p>
 * <strong>Threads.</strong> One thread runs all statements, except those of
 * {@link #erase}, and so uses one connection. {@link #add} may be called from any thread
 * and does not wait.
 */
final class HistoryWriter implements SmartLifecycle {

    private static final Logger logger = LoggerFactory.getLogger(HistoryWriter.class);

    /** Maximum number of rows that one transaction inserts. */
    static final int BATCH_LIMIT = 500;

    /** How long rows wait for others. */
    private static final Duration INTERVAL = Duration.ofMillis(100);

    /** How long the thread rests after a failure. */
    private static final Duration RETRY_DELAY = Duration.ofSeconds(1);

    /** How long rows are written, or deleted, before the other is done. */
    private static final Duration TURN = Duration.ofMillis(500);

    /** How often old rows are searched, if the last search has deleted all of them. */
    private static final Duration CLEANUP_INTERVAL = Duration.ofSeconds(10);

    /** How long no row may have been dropped until the end of that is logged. */
    private static final Duration QUIET = Duration.ofSeconds(5);

    /** How long a stop waits for the rows of the buffer. */
    private static final Duration STOP_LIMIT = Duration.ofSeconds(5);

    /** How long an erasure waits for the batch that is being written. */
    private static final Duration ERASE_LIMIT = Duration.ofSeconds(10);

    /** Starts before everything that records, and stops after it. */
    private static final int PHASE = 999;

    private final HistoryTable table;

    private final HistorySettings settings;

    private final BlockingQueue<HistoryRow> buffer;

    private final AtomicLong dropped = new AtomicLong();

    /** Held while rows are moved from the buffer to the table, or erased; fair. */
    private final ReentrantLock writing = new ReentrantLock(true);

    /** Rows of the batch that is being written; guarded by {@link #writing}. */
    private final List<HistoryRow> batch = new ArrayList<>();

    /** Whether the batch has failed before; guarded by {@link #writing}. */
    private boolean repeated;

    private @Nullable Thread thread;

    private CountDownLatch stop = new CountDownLatch(0);

    private volatile boolean running;

    private volatile boolean ended;

    /** Confined to the thread. */
    private boolean failing;

    /** Whether the log has a row that the database refused; confined to the thread. */
    private boolean refused;

    /** The dropped rows that are in the log; confined to the thread. */
    private long droppedBefore;

    /** The dropped rows at the last check; confined to the thread. */
    private long droppedLast;

    /** When rows were last dropped, on the monotonic clock; confined to the thread. */
    private long droppedAt;

    /** Whether the log says that rows are dropped. */
    private final AtomicBoolean dropping = new AtomicBoolean();

    private volatile LogExecutor log = new LogExecutor();

    HistoryWriter(HistoryTable table, HistorySettings settings) {
        this.table = table;
        this.settings = settings;
        this.buffer = new LinkedBlockingQueue<>(settings.buffer());
    }

    /** Writes a row soon, or drops it. */
    void add(HistoryRow row) {
        if (this.ended || !this.buffer.offer(row)) {
            drop();
        }
    }

    /** Counts a row that is dropped, and logs the first one in another thread. */
    private void drop() {
        this.dropped.incrementAndGet();
        if (!this.ended && this.dropping.compareAndSet(false, true)) {
            this.log.execute(() -> logger.warn(
                    "Rows of the history are dropped and counted, as the database is away or too slow: {} wait for it",
                    this.buffer.size()));
        }
    }

    /** Returns the number of rows that were dropped. */
    long dropped() {
        return this.dropped.get();
    }

    /**
     * Erases the rows of a message, including those in the buffer. Uses a connection of
     * its own, in the calling thread.
     * @return the number of rows that were deleted from the table
     * @throws QueryTimeoutException if a batch is being written for too long
     */
    long erase(QueueName queue, String id) {
        lockForErase(queue, id);
        try {
            this.buffer.removeIf((row) -> row.id().equals(id) && row.queue().equals(queue));
            this.batch.removeIf((row) -> row.id().equals(id) && row.queue().equals(queue));
            return this.table.delete(queue, id);
        }
        finally {
            this.writing.unlock();
        }
    }

    private void lockForErase(QueueName queue, String id) {
        boolean locked = false;
        try {
            locked = this.writing.tryLock(ERASE_LIMIT.toNanos(), TimeUnit.NANOSECONDS);
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
        if (!locked) {
            throw new QueryTimeoutException(
                    "The history of message '%s' of queue '%s' is not erased, as the database does not answer"
                        .formatted(id, queue));
        }
    }

    @Override
    public synchronized void start() {
        if (!this.running) {
            requireTable();
            this.running = true;
            if (this.ended) {
                this.log = new LogExecutor(); // the stop has closed the other one
            }
            this.ended = false;
            CountDownLatch signal = new CountDownLatch(1);
            this.stop = signal;
            this.thread = DaemonThreads.start(() -> run(signal), "delayqueue-history");
        }
    }

    /** A database that is away does not prevent the start, unlike a missing table. */
    private void requireTable() {
        try {
            this.table.requireTable();
        }
        catch (TransactionException | DataAccessException ex) {
            logger.warn("The table of the history cannot be checked, as the database does not answer: {}",
                    ex.toString());
        }
    }

    /** Ends the thread after it has written the buffer, or dropped it. */
    @Override
    public synchronized void stop() {
        Thread stopped = this.thread;
        if (stopped == null) {
            return;
        }
        this.running = false;
        this.stop.countDown();
        try {
            stopped.join(STOP_LIMIT.toMillis());
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
        this.thread = null;
        this.ended = true;
        List<HistoryRow> rest = new ArrayList<>();
        this.buffer.drainTo(rest);
        this.dropped.addAndGet(rest.size());
        if (!rest.isEmpty()) {
            logger.warn("{} rows of the history were dropped, as the database did not take them before the end of "
                    + "the application", rest.size());
        }
        this.log.close();
    }

    @Override
    public boolean isRunning() {
        return this.running;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }

    private void run(CountDownLatch signal) {
        long cleanup = System.nanoTime();
        boolean stopping = false;
        boolean more = false;
        while (!stopping) {
            stopping = await(signal, this.failing ? RETRY_DELAY : more ? Duration.ZERO : INTERVAL);
            try {
                more = writeBuffer();
                if (this.settings.deletion() && System.nanoTime() - cleanup >= 0 && !stopping) {
                    cleanup = System.nanoTime() + (deleteOld() ? 0 : CLEANUP_INTERVAL.toNanos());
                }
            }
            catch (RuntimeException | Error ex) {
                more = false;
                failed(ex);
            }
            reportDrops();
        }
        if (more) {
            writeRest();
        }
    }

    /**
     * Writes rows of the buffer for a while, so that old ones are deleted in between.
     * @return whether there are more
     */
    private boolean writeBuffer() {
        long end = System.nanoTime() + TURN.toNanos();
        while (writeBatch() == BATCH_LIMIT) {
            recovered();
            if (System.nanoTime() - end >= 0) {
                return true;
            }
        }
        recovered();
        return false;
    }

    /** Writes the buffer at a stop, as long as that waits. */
    private void writeRest() {
        try {
            while (!this.ended && writeBatch() > 0) {
                reportDrops();
            }
        }
        catch (RuntimeException | Error ex) {
            failed(ex);
        }
    }

    /**
     * Deletes old rows for a while.
     * @return whether there may be more
     */
    private boolean deleteOld() {
        long end = System.nanoTime() + TURN.toNanos();
        while (this.table.deleteOlderThan(this.settings.retention()) == HistoryTable.DELETE_LIMIT) {
            if (System.nanoTime() - end >= 0) {
                return true;
            }
        }
        return false;
    }

    private static boolean await(CountDownLatch signal, Duration time) {
        try {
            return signal.await(time.toNanos(), TimeUnit.NANOSECONDS);
        }
        catch (InterruptedException ex) {
            return true; // only this class has the thread
        }
    }

    /**
     * Writes rows of the buffer, or those whose last attempt has failed.
     * @return the size of the batch
     */
    private int writeBatch() {
        this.writing.lock();
        try {
            if (this.batch.isEmpty()) {
                this.repeated = false;
                this.buffer.drainTo(this.batch, BATCH_LIMIT);
            }
            int size = this.batch.size();
            if (size > 0) {
                write();
                this.batch.clear();
            }
            return size;
        }
        finally {
            this.writing.unlock();
        }
    }

    private void write() {
        try {
            writeOrRefuse();
        }
        catch (RuntimeException | Error ex) {
            this.repeated = true;
            throw ex;
        }
    }

    private void writeOrRefuse() {
        try {
            this.table.insert(this.batch, this.repeated);
        }
        catch (DataIntegrityViolationException ex) {
            // One by one, as the database may go away between two of them.
            while (!this.batch.isEmpty()) {
                writeAlone(this.batch.get(0));
                this.batch.remove(0);
            }
        }
    }

    /** Writes a row of a batch that the database refuses because of one of its rows. */
    private void writeAlone(HistoryRow row) {
        try {
            this.table.insert(List.of(row), this.repeated);
        }
        catch (DataIntegrityViolationException ex) {
            this.dropped.incrementAndGet();
            String line = "The database refuses a row of the history of queue '{}', which is dropped and counted";
            if (!this.refused) {
                this.refused = true;
                logger.warn(line + "; further ones are logged at debug level", row.queue(), ex);
            }
            else {
                logger.debug(line, row.queue(), ex);
            }
        }
    }

    private void failed(Throwable failure) {
        if (!this.failing) {
            this.failing = true;
            logger.warn("The history is not written, as the database does not take its rows; up to {} are kept, and "
                    + "further ones are dropped: {}", this.settings.buffer(), failure.toString());
        }
        logger.debug("The history is not written", failure);
    }

    private void recovered() {
        if (this.failing) {
            this.failing = false;
            logger.info("The history is written again");
        }
    }

    /** Logs the end of a time in which rows were dropped. */
    private void reportDrops() {
        long count = this.dropped.get();
        if (count != this.droppedLast) {
            this.droppedLast = count;
            this.droppedAt = System.nanoTime();
        }
        else if (this.dropping.get() && System.nanoTime() - this.droppedAt > QUIET.toNanos()) {
            this.dropping.set(false);
            logger.warn("No more rows of the history are dropped; {} were", count - this.droppedBefore);
            this.droppedBefore = count;
        }
    }

}

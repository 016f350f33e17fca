package io.delayqueue.listener.poll;

import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

import io.delayqueue.store.MessageStore;

/**
 * Limits how many messages one listener claims and handles of one queue at a time, by
 * permits for its concurrency and prefetch, and hands claimed messages to handler
 * threads. A permit is for one message, or for one batch.
 * <p>
 * A quick handler would wait for the store after each message. Therefore as many more
 * messages may be claimed as the handlers finished in the last few milliseconds, at most
 * as many as handlers of the latest average duration can finish in that time. Slow
 * handlers get none, which leaves the messages to other nodes.
 * <p>
 * Threads are started one by one, each by the one before while messages wait, so that a
 * few quick handlers do not wake a thread for every message.
 * <p>
 * <strong>Threads.</strong> Loops reserve and add; any thread reports finished messages.
 * Only loops that share handlers use the queue of waiters, under its own lock.
 */
public final class HandlerConcurrencyLimiter {

    /** How long a prefetched message is expected to wait. */
    static final Duration PREFETCH_TIME = Duration.ofMillis(5);

    /** How long messages may wait without progress before they are released. */
    static final Duration STALL = Duration.ofSeconds(1);

    /** The longest wait for a thread before its start counts as dropped. */
    private static final Duration MAX_START_TIME = Duration.ofSeconds(30);

    /** The maximum prefetch: one batch waits here while the next two are claimed. */
    private static final int MAX_PREFETCH = 3 * MessageStore.BATCH_LIMIT;

    private static final long MIN_SAMPLE = Duration.ofMillis(2).toNanos();

    /** Written under the lock of this object. */
    private volatile int concurrency;

    private final int maxPrefetch;

    private final HandlerExecutor executor;

    private final LongSupplier nanoTime;

    /** Negative while more handlers run than a reduced concurrency permits. */
    private final Permits free;

    private final Queue<Waiting> ready = new ConcurrentLinkedQueue<>();

    private final AtomicInteger waiting = new AtomicInteger();

    /** Tasks whose messages are claimed or being claimed, and that are not finished. */
    private final AtomicInteger reserved = new AtomicInteger();

    private final LongAdder finished = new LongAdder();

    /** The total time that handlers took for the finished tasks, in nanoseconds. */
    private final LongAdder busy = new LongAdder();

    private final AtomicReference<Sample> sample;

    private final AtomicInteger loops = new AtomicInteger();

    /** Loops that wait for permits, in FIFO order; guarded by itself. */
    private final Set<PollLoopScheduler> waiters = new LinkedHashSet<>();

    private final AtomicBoolean starting = new AtomicBoolean();

    private volatile long startingSince;

    /** After how many nanoseconds the start of a thread counts as dropped. */
    private volatile long startLimit = STALL.toNanos();

    private volatile long movedAt;

    public HandlerConcurrencyLimiter(int concurrency, HandlerExecutor executor, LongSupplier nanoTime) {
        this(concurrency, MAX_PREFETCH, executor, nanoTime);
    }

    private HandlerConcurrencyLimiter(int concurrency, int maxPrefetch, HandlerExecutor executor,
            LongSupplier nanoTime) {
        this.concurrency = concurrency;
        this.maxPrefetch = maxPrefetch;
        this.executor = executor;
        this.nanoTime = nanoTime;
        this.free = new Permits(concurrency);
        this.sample = new AtomicReference<>(new Sample(nanoTime.getAsLong(), 0, 0, 0));
    }

    /**
     * Creates a limiter for handlers of batches. They prefetch none: a batch may hold as
     * many messages as a claim, so few of them keep the handlers busy.
     */
    public static HandlerConcurrencyLimiter ofBatches(int concurrency, HandlerExecutor executor,
            LongSupplier nanoTime) {
        return new HandlerConcurrencyLimiter(concurrency, 0, executor, nanoTime);
    }

    /**
     * Changes the concurrency. If it becomes less than the number of running handlers,
     * these continue, and their permits are taken as they return. The caller then
     * requests an iteration of each loop, which uses additional permits.
     */
    public synchronized void setConcurrency(int concurrency) {
        int additional = concurrency - this.concurrency;
        this.concurrency = concurrency;
        if (additional > 0) {
            this.free.release(additional);
        }
        else {
            this.free.reducePermits(-additional);
        }
    }

    /** Registers a loop that shares these handlers. */
    void register() {
        this.loops.incrementAndGet();
    }

    /** Unregisters a loop that could not be started. */
    public void unregister() {
        this.loops.decrementAndGet();
    }

    /**
     * Reserves permits for messages that are about to be claimed. A loop that gets none
     * joins a FIFO queue and is woken when permits are free. One permit is reserved for
     * each waiter, so a busy partition cannot starve the others.
     * @return the number of permits, at most {@code most}; 0 if none is free
     */
    int reserve(int most, PollLoopScheduler scheduler) {
        int limit = this.concurrency + prefetch();
        if (this.loops.get() <= 1) {
            return take(most, limit);
        }
        synchronized (this.waiters) {
            // Joins first, or a handler that finishes meanwhile would not wake this loop.
            this.waiters.add(scheduler);
            int before = positionOf(scheduler);
            int free = limit - this.reserved.get();
            if (free <= before) {
                return 0;
            }
            int taken = take(Math.min(most, Math.max(1, free - (this.waiters.size() - 1))), limit);
            // If other loops took the free permits, this loop keeps waiting.
            if (taken > 0) {
                this.waiters.remove(scheduler);
            }
            return taken;
        }
    }

    private int positionOf(PollLoopScheduler scheduler) {
        int place = 0;
        for (PollLoopScheduler waiting : this.waiters) {
            if (waiting == scheduler) {
                break;
            }
            place++;
        }
        return place;
    }

    private int take(int most, int limit) {
        while (true) {
            int taken = this.reserved.get();
            int permits = Math.min(most, limit - taken);
            if (permits <= 0) {
                return 0;
            }
            if (this.reserved.compareAndSet(taken, taken + permits)) {
                return permits;
            }
        }
    }

    /** Releases permits that no message uses. */
    void release(int permits) {
        this.reserved.addAndGet(-permits);
        if (permits > 0) {
            wakeWaiters();
        }
    }

    /** Removes a loop from the queue of waiting loops. */
    void leave(PollLoopScheduler scheduler) {
        synchronized (this.waiters) {
            this.waiters.remove(scheduler);
        }
        wakeWaiters();
    }

    /** Wakes as many waiters as there are free permits. */
    void wakeWaiters() {
        if (this.loops.get() <= 1) {
            return;
        }
        List<PollLoopScheduler> first;
        synchronized (this.waiters) {
            int free = this.concurrency + this.sample.get().prefetch() - this.reserved.get();
            first = this.waiters.stream().limit(Math.max(0, free)).toList();
        }
        first.forEach(PollLoopScheduler::requestIteration);
    }

    private int prefetch() {
        Sample last = this.sample.get();
        long now = this.nanoTime.getAsLong();
        long span = now - last.at();
        if (span < MIN_SAMPLE) {
            return last.prefetch();
        }
        Sample next = next(last, now);
        this.sample.compareAndSet(last, next);
        return next.prefetch();
    }

    private Sample next(Sample last, long now) {
        long finished = this.finished.sum();
        long busy = this.busy.sum();
        double scaled = (double) (finished - last.finished()) * PREFETCH_TIME.toNanos();
        double prefetch = scaled / (now - last.at());
        long took = busy - last.busy();
        if (took > 0) {
            prefetch = Math.min(prefetch, this.concurrency * scaled / took);
        }
        return new Sample(now, finished, busy, (int) Math.min(this.maxPrefetch, prefetch));
    }

    /**
     * Hands tasks to handlers, each as soon as one is free.
     * @param work called once for each task, on a handler thread
     * @throws RuntimeException or an error if no thread can run them; unless the caller
     * releases them, they may still be handled as soon as another handler finishes
     */
    void add(List<HandlerTask> tasks, Consumer<HandlerTask> work) {
        if (tasks.isEmpty()) {
            return;
        }
        this.movedAt = this.nanoTime.getAsLong();
        this.waiting.addAndGet(tasks.size());
        tasks.forEach((task) -> this.ready.add(new Waiting(task, work)));
        startOne();
    }

    /** Removes waiting tasks whose messages were released. */
    void removeReleased() {
        for (Waiting task : this.ready) {
            if (task.task().isReleased() && this.ready.remove(task)) {
                this.waiting.decrementAndGet();
            }
        }
    }

    /** Starts one thread at a time; each new thread starts the next. */
    private void startOne() {
        if (this.waiting.get() > 0 && this.free.availablePermits() > 0 && this.starting.compareAndSet(false, true)) {
            this.startingSince = this.nanoTime.getAsLong();
            try {
                this.executor.execute(this::run);
            }
            catch (Throwable ex) {
                this.starting.set(false);
                throw ex;
            }
        }
    }

    /**
     * Allows another start if the last one was dropped: an executor of the application
     * may drop tasks without an exception, as {@code DiscardPolicy} does. It may also be
     * busy and still hold the task; so the limit doubles each time, or its queue would
     * fill with tasks that find nothing to do.
     */
    void forgetDroppedStart() {
        long limit = this.startLimit;
        if (this.starting.get() && this.nanoTime.getAsLong() - this.startingSince >= limit) {
            this.startLimit = Math.min(2 * limit, MAX_START_TIME.toNanos());
            this.starting.set(false);
        }
    }

    private void run() {
        this.startLimit = STALL.toNanos();
        this.starting.set(false);
        while (this.free.tryAcquire()) {
            Waiting task = this.ready.poll();
            if (task != null) {
                this.waiting.decrementAndGet();
                long now = this.nanoTime.getAsLong();
                this.movedAt = now;
                task.task().dispatched(now);
                startNext();
                task.work().accept(task.task());
                if (this.executor.isShared()) {
                    // The next task was started when this one returned its permit.
                    return;
                }
            }
            else {
                this.free.release();
                // A message may have been added before this handler was free again.
                if (this.ready.isEmpty()) {
                    return;
                }
            }
        }
    }

    /**
     * Starts a thread for waiting messages, in case an earlier start failed. If this one
     * fails too, a running handler or a later iteration continues.
     */
    void startNext() {
        try {
            startOne();
        }
        catch (RuntimeException | OutOfMemoryError ex) {
            // Reported when there is no thread at all.
        }
    }

    /** Records that a task is finished, or was not to be handled. */
    void finished(HandlerTask task) {
        this.busy.add(this.nanoTime.getAsLong() - task.dispatchedAt());
        this.finished.increment();
        this.reserved.decrementAndGet();
        free();
    }

    /** Releases the handler of a message that was already released. */
    void free() {
        this.free.release();
        startNext();
    }

    /** Returns how many more messages, or batches, could be handled now. */
    public int idle() {
        return Math.max(0, this.free.availablePermits());
    }

    /** Returns whether to claim more: at most half of the prefetch still waits. */
    boolean needsMore() {
        return this.waiting.get() <= this.sample.get().prefetch() / 2;
    }

    boolean isShared() {
        return this.loops.get() > 1;
    }

    /** Returns whether enough permits are free to justify a claim. */
    boolean hasCapacity() {
        int prefetch = prefetch();
        return this.reserved.get() < this.concurrency + prefetch && (prefetch == 0 || needsMore());
    }

    /** Returns whether that many permits are free. */
    boolean hasCapacityFor(int permits) {
        return this.reserved.get() + permits <= this.concurrency + prefetch();
    }

    boolean isStalled() {
        return this.waiting.get() > 0 && this.nanoTime.getAsLong() - this.movedAt >= STALL.toNanos();
    }

    /** Returns the time until waiting messages count as stalled; zero if they do. */
    Duration untilStalled() {
        return Duration.ofNanos(Math.max(0, this.movedAt + STALL.toNanos() - this.nanoTime.getAsLong()));
    }

    boolean hasWaiting() {
        return this.waiting.get() > 0;
    }

    /** Makes the reduction of permits accessible. */
    private static final class Permits extends Semaphore {

        private static final long serialVersionUID = 1L;

        Permits(int permits) {
            super(permits);
        }

        @Override
        protected void reducePermits(int reduction) {
            super.reducePermits(reduction);
        }

    }

    private record Waiting(HandlerTask task, Consumer<HandlerTask> work) {
    }

    /** Holds the totals up to a time, and how many messages to prefetch from then on. */
    private record Sample(long at, long finished, long busy, int prefetch) {
    }

}

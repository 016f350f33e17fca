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
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

import io.delayqueue.store.MessageStore;

/**
 * Limits how many messages of one queue are handled, or prefetched, at a time.
 * <p>
 * A quick handler would wait for the store after each message. Therefore as many extra
 * messages may be claimed as the handlers finished in the last few milliseconds: they
 * wait about that long. Slow handlers get none, which leaves the messages to other nodes.
 * Slow handlers may also finish many at once, so the prefetch is capped at the number
 * that handlers of the latest average duration can finish.
 * <p>
 * Threads are started one by one, each by the one before while messages wait, so that a
 * few quick handlers do not wake a thread for every message.
 * <p>
 * <strong>Threads.</strong> Loops reserve and add; any thread reports finished messages.
 * Only loops that share handlers use the queue of waiting loops, under its own lock.
 */
final class HandlerPermits {

    /** How long a prefetched message is expected to wait. */
    static final Duration AHEAD = Duration.ofMillis(5);

    /** How long messages may wait without progress before they are given back. */
    static final Duration STALL = Duration.ofSeconds(1);

    /** The longest wait for a thread before its start counts as dropped. */
    private static final Duration LONGEST_START = Duration.ofSeconds(30);

    /** The maximum prefetch: one batch waits here while the next one is claimed. */
    private static final int MOST_AHEAD = 2 * MessageStore.BATCH_LIMIT;

    private static final long SHORTEST_SAMPLE = Duration.ofMillis(2).toNanos();

    private final int concurrency;

    private final HandlerExecutor threads;

    private final LongSupplier nanoTime;

    private final Semaphore free;

    private final Queue<Task> ready = new ConcurrentLinkedQueue<>();

    private final AtomicInteger waiting = new AtomicInteger();

    /** Messages that are claimed or being claimed, and not finished. */
    private final AtomicInteger reserved = new AtomicInteger();

    private final AtomicLong finished = new AtomicLong();

    /** The total time that handlers took for the finished messages, in nanoseconds. */
    private final AtomicLong busy = new AtomicLong();

    private final AtomicReference<Sample> sample;

    private final AtomicInteger loops = new AtomicInteger();

    /** Loops that wait for permits, longest wait first; guarded by itself. */
    private final Set<Alarm> line = new LinkedHashSet<>();

    private final AtomicBoolean starting = new AtomicBoolean();

    /** When the pending start of a thread was requested. */
    private volatile long startingSince;

    /** After how many nanoseconds the pending start counts as dropped. */
    private volatile long startLimit = STALL.toNanos();

    private volatile long movedAt;

    HandlerPermits(int concurrency, HandlerExecutor threads, LongSupplier nanoTime) {
        this.concurrency = concurrency;
        this.threads = threads;
        this.nanoTime = nanoTime;
        this.free = new Semaphore(concurrency);
        this.sample = new AtomicReference<>(new Sample(nanoTime.getAsLong(), 0, 0, 0));
    }

    /** Registers a loop that shares these handlers. */
    void join() {
        this.loops.incrementAndGet();
    }

    /** Unregisters a loop that could not be started. */
    void part() {
        this.loops.decrementAndGet();
    }

    /**
     * Reserves permits for messages that are about to be claimed. A loop that gets none
     * joins a FIFO queue and is rung when permits are free. One permit stays reserved for
     * each waiting loop, so a busy partition cannot starve the others.
     * @param alarm the alarm of the calling loop
     * @return the number of permits, at most {@code most}; 0 if none is free
     */
    int reserve(int most, Alarm alarm) {
        int limit = this.concurrency + ahead();
        if (this.loops.get() <= 1) {
            return take(most, limit);
        }
        synchronized (this.line) {
            // Joins first, or a handler that finishes meanwhile would not ring this loop.
            this.line.add(alarm);
            int before = placeOf(alarm);
            int free = limit - this.reserved.get();
            if (free <= before) {
                return 0;
            }
            int taken = take(Math.min(most, Math.max(1, free - (this.line.size() - 1))), limit);
            // If other loops took the free permits, this loop keeps waiting.
            if (taken > 0) {
                this.line.remove(alarm);
            }
            return taken;
        }
    }

    private int placeOf(Alarm alarm) {
        int place = 0;
        for (Alarm waiting : this.line) {
            if (waiting == alarm) {
                break;
            }
            place++;
        }
        return place;
    }

    private int take(int most, int limit) {
        while (true) {
            int taken = this.reserved.get();
            int room = Math.min(most, limit - taken);
            if (room <= 0) {
                return 0;
            }
            if (this.reserved.compareAndSet(taken, taken + room)) {
                return room;
            }
        }
    }

    /** Releases permits that no message uses. */
    void giveBack(int room) {
        this.reserved.addAndGet(-room);
        if (room > 0) {
            ringThoseInLine();
        }
    }

    /** Removes a loop from the queue of waiting loops. */
    void leave(Alarm alarm) {
        synchronized (this.line) {
            this.line.remove(alarm);
        }
        ringThoseInLine();
    }

    /** Rings as many of the waiting loops as there are free permits. */
    void ringThoseInLine() {
        if (this.loops.get() <= 1) {
            return;
        }
        List<Alarm> first;
        synchronized (this.line) {
            int free = this.concurrency + this.sample.get().ahead() - this.reserved.get();
            first = this.line.stream().limit(Math.max(0, free)).toList();
        }
        first.forEach(Alarm::ring);
    }

    private int ahead() {
        Sample last = this.sample.get();
        long now = this.nanoTime.getAsLong();
        long span = now - last.at();
        if (span < SHORTEST_SAMPLE) {
            return last.ahead();
        }
        Sample next = next(last, now);
        this.sample.compareAndSet(last, next);
        return next.ahead();
    }

    private Sample next(Sample last, long now) {
        long finished = this.finished.get();
        long busy = this.busy.get();
        double done = (double) (finished - last.finished()) * AHEAD.toNanos();
        double ahead = done / (now - last.at());
        long took = busy - last.busy();
        if (took > 0) {
            ahead = Math.min(ahead, this.concurrency * done / took);
        }
        return new Sample(now, finished, busy, (int) Math.min(MOST_AHEAD, ahead));
    }

    /**
     * Hands messages to handlers, each as soon as one is free.
     * @param work called once for each message, on a handler thread
     * @throws RuntimeException or an error if no thread can run them; unless the caller
     * gives them back and forgets them, they may still be handled as soon as another
     * handler finishes
     */
    void add(List<InFlightMessage> leases, Consumer<InFlightMessage> work) {
        if (leases.isEmpty()) {
            return;
        }
        this.movedAt = this.nanoTime.getAsLong();
        this.waiting.addAndGet(leases.size());
        leases.forEach((lease) -> this.ready.add(new Task(lease, work)));
        startOne();
    }

    /** Removes waiting messages that were given back. */
    void forgetGivenBack() {
        for (Task task : this.ready) {
            if (task.lease().isGivenBack() && this.ready.remove(task)) {
                this.waiting.decrementAndGet();
            }
        }
    }

    /** Starts one thread at a time; each new thread starts the next. */
    private void startOne() {
        if (this.waiting.get() > 0 && this.free.availablePermits() > 0 && this.starting.compareAndSet(false, true)) {
            this.startingSince = this.nanoTime.getAsLong();
            try {
                this.threads.execute(this::run);
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
            this.startLimit = Math.min(2 * limit, LONGEST_START.toNanos());
            this.starting.set(false);
        }
    }

    private void run() {
        this.startLimit = STALL.toNanos();
        this.starting.set(false);
        while (this.free.tryAcquire()) {
            Task task = this.ready.poll();
            if (task != null) {
                this.waiting.decrementAndGet();
                long now = this.nanoTime.getAsLong();
                this.movedAt = now;
                task.lease().handedOut(now);
                goOn();
                task.work().accept(task.lease());
                if (this.threads.areShared()) {
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
     * fails too, a running handler or a later turn continues.
     */
    void goOn() {
        try {
            startOne();
        }
        catch (RuntimeException | OutOfMemoryError ex) {
            // Reported when there is no thread at all.
        }
    }

    /** Records that a message is finished, or was not to be handled. */
    void finished(InFlightMessage lease) {
        this.busy.addAndGet(this.nanoTime.getAsLong() - lease.handedOutAt());
        this.finished.incrementAndGet();
        this.reserved.decrementAndGet();
        free();
    }

    /** Releases the handler of a message that was already given back. */
    void free() {
        this.free.release();
        goOn();
    }

    /** Returns how many more messages could be handled now. */
    int idle() {
        return this.free.availablePermits();
    }

    /** Returns whether to claim more: at most half of the prefetch still waits. */
    boolean wantsMore() {
        return this.waiting.get() <= this.sample.get().ahead() / 2;
    }

    /** Returns whether several loops share these handlers. */
    boolean isShared() {
        return this.loops.get() > 1;
    }

    /** Returns whether enough permits are free to justify a claim. */
    boolean hasRoom() {
        int ahead = ahead();
        return this.reserved.get() < this.concurrency + ahead && (ahead == 0 || wantsMore());
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

    private record Task(InFlightMessage lease, Consumer<InFlightMessage> work) {
    }

    /**
     * Holds the totals up to a time.
     *
     * @param at the time
     * @param finished how many messages were finished
     * @param busy how long handlers had taken for these, in nanoseconds
     * @param ahead how many messages to prefetch from then on
     */
    private record Sample(long at, long finished, long busy, int ahead) {
    }

}

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
 * The handlers of one queue: so many at a time, and what is claimed ahead for them.
 * <p>
 * A handler that is quick would wait for the store after each message. So there is room
 * for as many messages more as the handlers got through in the last few milliseconds:
 * they wait about that long. Slow handlers get none ahead, and leave the messages to
 * other nodes; those that end many at a time are slow all the same, so no more are
 * claimed ahead than handlers that take as long as the last ones get through.
 * <p>
 * Threads are started one by one, each by the one before as long as messages wait, so
 * that a few quick handlers do not wake a thread for every message.
 * <p>
 * <strong>Threads.</strong> Loops reserve and add; any thread says that a handler has
 * finished. Only loops that share handlers use the line, under its own lock.
 */
final class HandlerPermits {

    /** How long a message that is claimed ahead is expected to wait. */
    static final Duration AHEAD = Duration.ofMillis(5);

    /** After so long with no handler free, what waits is better off elsewhere. */
    static final Duration STALL = Duration.ofSeconds(1);

    /** The longest that a start may take before it counts as dropped. */
    private static final Duration LONGEST_START = Duration.ofSeconds(30);

    /** One batch that waits here while the store is asked for the next one. */
    private static final int MOST_AHEAD = 2 * MessageStore.BATCH_LIMIT;

    private static final long SHORTEST_SAMPLE = Duration.ofMillis(2).toNanos();

    private final int concurrency;

    private final HandlerExecutor threads;

    private final LongSupplier nanoTime;

    private final Semaphore free;

    private final Queue<Task> ready = new ConcurrentLinkedQueue<>();

    private final AtomicInteger waiting = new AtomicInteger();

    /** Claimed or being claimed, and not finished. */
    private final AtomicInteger reserved = new AtomicInteger();

    private final AtomicLong finished = new AtomicLong();

    /** How long handlers took for all that is finished. */
    private final AtomicLong busy = new AtomicLong();

    private final AtomicReference<Sample> sample;

    private final AtomicInteger loops = new AtomicInteger();

    /** Loops that found no room, the longest waiting first; guards itself. */
    private final Set<Alarm> line = new LinkedHashSet<>();

    private final AtomicBoolean starting = new AtomicBoolean();

    /** When the thread that is being started was requested. */
    private volatile long startingSince;

    /** After how many nanoseconds without that thread it counts as dropped. */
    private volatile long startLimit = STALL.toNanos();

    private volatile long movedAt;

    HandlerPermits(int concurrency, HandlerExecutor threads, LongSupplier nanoTime) {
        this.concurrency = concurrency;
        this.threads = threads;
        this.nanoTime = nanoTime;
        this.free = new Semaphore(concurrency);
        this.sample = new AtomicReference<>(new Sample(nanoTime.getAsLong(), 0, 0, 0));
    }

    /** Another loop shares these handlers. */
    void join() {
        this.loops.incrementAndGet();
    }

    /** A loop that has joined does not run after all. */
    void part() {
        this.loops.decrementAndGet();
    }

    /**
     * Takes room for messages that are about to be claimed. Who finds none waits in a
     * line, is rung when there is some, and until then finds one place left to it: a
     * partition that is always busy cannot take every place as it becomes free.
     * @param alarm of the loop that asks
     * @return room for how many, at most {@code most}; 0 if there is none
     */
    int reserve(int most, Alarm alarm) {
        int limit = this.concurrency + ahead();
        if (this.loops.get() <= 1) {
            return take(most, limit);
        }
        synchronized (this.line) {
            // In the line first, or a handler that finishes meanwhile would ring nobody.
            this.line.add(alarm);
            int before = placeOf(alarm);
            int free = limit - this.reserved.get();
            if (free <= before) {
                return 0;
            }
            int taken = take(Math.min(most, Math.max(1, free - (this.line.size() - 1))), limit);
            // Others may have taken what was free: then it goes on waiting.
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

    /** Gives room back for which there is no message. */
    void giveBack(int room) {
        this.reserved.addAndGet(-room);
        if (room > 0) {
            ringThoseInLine();
        }
    }

    /** This loop takes no room for now. */
    void leave(Alarm alarm) {
        synchronized (this.line) {
            this.line.remove(alarm);
        }
        ringThoseInLine();
    }

    /** Wakes as many of those who found no room as there is room for. */
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
     * @param work called once for each, on a handler thread
     * @throws RuntimeException or an error if there is no thread for them; they may be
     * handed out all the same, as soon as another handler finishes, unless they are given
     * back and forgotten
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

    /** Those that were given back wait no more. */
    void forgetGivenBack() {
        for (Task task : this.ready) {
            if (task.lease().isGivenBack() && this.ready.remove(task)) {
                this.waiting.decrementAndGet();
            }
        }
    }

    /** One at a time; the thread that starts starts the next. */
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
     * Lets another thread be started if the last one does not come: an executor of the
     * application may drop tasks without an exception, as {@code DiscardPolicy} does. It
     * may as well be busy, and still hold the task; so it is given twice as long each
     * time, or its queue would be filled with tasks that find nothing to do.
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
                    // The next one was started when this one gave its permit back.
                    return;
                }
            }
            else {
                this.free.release();
                // Something may have come before there was a free handler again.
                if (this.ready.isEmpty()) {
                    return;
                }
            }
        }
    }

    /**
     * Starts a thread for what waits, should there have been none to be had. If there is
     * none again, those there are have more to do, or a later turn tries.
     */
    void goOn() {
        try {
            startOne();
        }
        catch (RuntimeException | OutOfMemoryError ex) {
            // Told when there is no thread at all.
        }
    }

    /** A handler has finished with a message, or it was not to be handled. */
    void finished(InFlightMessage lease) {
        this.busy.addAndGet(this.nanoTime.getAsLong() - lease.handedOutAt());
        this.finished.incrementAndGet();
        this.reserved.decrementAndGet();
        free();
    }

    /** A message that was handed out turned out to be given back already. */
    void free() {
        this.free.release();
        goOn();
    }

    /** How many more messages could be handled at this moment. */
    int idle() {
        return this.free.availablePermits();
    }

    /** Whether it is time for a claim: less than half of what is claimed ahead waits. */
    boolean wantsMore() {
        return this.waiting.get() <= this.sample.get().ahead() / 2;
    }

    /** Whether several loops share these handlers. */
    boolean isShared() {
        return this.loops.get() > 1;
    }

    /** Whether there is room that is worth a claim. */
    boolean hasRoom() {
        int ahead = ahead();
        return this.reserved.get() < this.concurrency + ahead && (ahead == 0 || wantsMore());
    }

    boolean isStalled() {
        return this.waiting.get() > 0 && this.nanoTime.getAsLong() - this.movedAt >= STALL.toNanos();
    }

    /** How long until what waits is stalled if nothing moves, zero if it is. */
    Duration untilStalled() {
        return Duration.ofNanos(Math.max(0, this.movedAt + STALL.toNanos() - this.nanoTime.getAsLong()));
    }

    boolean hasWaiting() {
        return this.waiting.get() > 0;
    }

    private record Task(InFlightMessage lease, Consumer<InFlightMessage> work) {
    }

    /**
     * What was finished up to a time.
     *
     * @param at the time
     * @param finished how many were finished by then
     * @param busy how long handlers had taken for these, nanoseconds
     * @param ahead how many to claim ahead from then on
     */
    private record Sample(long at, long finished, long busy, int ahead) {
    }

}

package io.delayqueue.test;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import java.util.function.Supplier;

import io.delayqueue.Delivery;
import io.delayqueue.listener.poll.Nanos;
import io.delayqueue.listener.poll.PollLoopStatus;
import org.jspecify.annotations.Nullable;

/**
 * Detects when the queue is quiet until time moves: no loop has an iteration, no call of
 * the store is pending, no task of a handler runs, and no message is in flight but those
 * that a test holds or that wait for time to move.
 * <p>
 * This follows from the state of the loops, and from the calls, tasks and handlers that
 * are listed here; pending work is not counted, as a count could drift. Since the parts
 * are read one after another, the result is valid only if nothing began in between.
 * <p>
 * <strong>Threads.</strong> Any thread reports what it does; the thread of the test
 * waits.
 */
final class QuietDetector {

    /** Reads the state again, in case a change was not reported. */
    private static final long REREAD_MILLIS = 20;

    private final VirtualTime time;

    private final VirtualTimers timers;

    private final Set<Task> tasks = ConcurrentHashMap.newKeySet();

    private final Set<Call> calls = ConcurrentHashMap.newKeySet();

    private final Set<Handling> handlings = ConcurrentHashMap.newKeySet();

    /** Counts what has begun. */
    private final AtomicLong begun = new AtomicLong();

    /** Counts tasks that have ended, which is progress. */
    private final AtomicLong ended = new AtomicLong();

    /** Counts the changes that a waiting thread has not noticed; guarded by this. */
    private long changes;

    QuietDetector(VirtualTime time, VirtualTimers timers) {
        this.time = time;
        this.timers = timers;
    }

    /** Returns an executor whose tasks are listed here until they have ended. */
    Executor track(Executor executor) {
        return (work) -> {
            Task task = new Task();
            this.tasks.add(task);
            this.begun.incrementAndGet();
            try {
                executor.execute(() -> run(task, work));
            }
            catch (Throwable ex) {
                this.tasks.remove(task);
                throw ex;
            }
        };
    }

    private void run(Task task, Runnable work) {
        task.thread = Thread.currentThread();
        try {
            work.run();
        }
        finally {
            task.thread = null;
            this.tasks.remove(task);
            this.ended.incrementAndGet();
            changed();
        }
    }

    /** Wakes the thread that waits. */
    synchronized void changed() {
        this.changes++;
        notifyAll();
    }

    /**
     * Makes a call that is listed here until its answer was processed.
     * @param onAnswer runs before that, if the call succeeded
     */
    <T> CompletableFuture<T> call(String name, Supplier<CompletableFuture<T>> supplier, Runnable onAnswer) {
        Call call = new Call(name);
        this.calls.add(call);
        this.begun.incrementAndGet();
        CompletableFuture<T> answer;
        try {
            answer = supplier.get();
        }
        catch (Throwable ex) {
            this.calls.remove(call);
            throw ex;
        }
        CompletableFuture<T> processed = new CompletableFuture<>() {

            @Override
            public boolean cancel(boolean mayInterruptIfRunning) {
                answer.cancel(mayInterruptIfRunning);
                return super.cancel(mayInterruptIfRunning);
            }

        };
        answer.whenComplete((value, failure) -> {
            try {
                if (failure != null) {
                    processed.completeExceptionally(failure);
                }
                else {
                    onAnswer.run();
                    processed.complete(value);
                }
            }
            finally {
                this.calls.remove(call);
                changed();
            }
        });
        return processed;
    }

    /** Lists a handler that is called on this thread. */
    Handling begin(String listenerId, Delivery delivery) {
        Handling handling = new Handling(listenerId, delivery, this.time.now());
        this.handlings.add(handling);
        this.begun.incrementAndGet();
        return handling;
    }

    void end(Handling handling) {
        this.handlings.remove(handling);
        changed();
    }

    /** Returns the handlers that run or have returned a future, by a condition. */
    List<Handling> handlings(Predicate<Handling> condition) {
        return this.handlings.stream().filter(condition).toList();
    }

    /** Returns whether this thread runs a task of a handler. */
    boolean isHandlerThread() {
        Thread current = Thread.currentThread();
        return this.tasks.stream().anyMatch((task) -> task.thread == current);
    }

    /**
     * Forgets the handlers of an earlier test, and interrupts them.
     * @return whether there were any
     */
    boolean abandon() {
        boolean any = !this.handlings.isEmpty() || !this.tasks.isEmpty();
        for (Handling handling : this.handlings) {
            Hold hold = handling.hold();
            if (hold != null) {
                hold.release();
            }
            Thread thread = handling.thread();
            if (thread != null) {
                thread.interrupt();
            }
        }
        this.handlings.clear();
        this.tasks.clear();
        return any;
    }

    /**
     * Waits until the queue is quiet.
     * @param loops returns the state of all loops
     * @param limit how long to wait while nothing ends
     * @return {@code null}; else what still happens
     */
    @Nullable String awaitQuiet(Supplier<Collection<PollLoopStatus>> loops, Duration limit) throws InterruptedException {
        long seen = this.ended.get();
        long since = System.nanoTime();
        while (true) {
            long before = changes();
            if (isQuiet(loops.get())) {
                return null;
            }
            if (seen != this.ended.get()) {
                seen = this.ended.get();
                since = System.nanoTime();
            }
            else if (System.nanoTime() - since > Nanos.of(limit)) {
                return describe(loops.get());
            }
            await(before);
        }
    }

    private synchronized long changes() {
        return this.changes;
    }

    private synchronized void await(long before) throws InterruptedException {
        if (this.changes == before) {
            wait(REREAD_MILLIS);
        }
    }

    private boolean isQuiet(Collection<PollLoopStatus> loops) {
        long before = this.begun.get();
        if (!this.calls.isEmpty() || this.tasks.stream().anyMatch((task) -> !mayWait(task.thread))) {
            return false;
        }
        int inFlight = 0;
        for (PollLoopStatus loop : loops) {
            if (!loop.idle()) {
                return false;
            }
            inFlight += loop.inFlight();
        }
        return inFlight == waiting() && before == this.begun.get();
    }

    /** Returns whether a thread waits for the test to move time, or is allowed to run. */
    private boolean mayWait(@Nullable Thread thread) {
        return thread != null && (this.timers.isPaused(thread)
                || this.handlings.stream().anyMatch((handling) -> handling.thread() == thread && handling.isHeld()));
    }

    /** Returns how many messages in flight wait for the test to move time. */
    private int waiting() {
        return this.timers.paused() + (int) this.handlings.stream().filter(Handling::isHeld).count();
    }

    private String describe(Collection<PollLoopStatus> loops) {
        Instant now = this.time.now();
        List<String> lines = new ArrayList<>();
        this.handlings.stream()
            .filter((handling) -> !handling.isHeld())
            .forEach((handling) -> lines.add(handling.describe(now)));
        if (lines.isEmpty()) {
            this.tasks.stream().filter((task) -> !mayWait(task.thread)).forEach((task) -> lines.add(task.describe()));
            this.calls.forEach((call) -> lines.add("  the store has not answered '%s'%n".formatted(call.name)));
            loops.stream()
                .filter((loop) -> !loop.idle() || loop.inFlight() > 0)
                .forEach((loop) -> lines
                    .add("  the loop of queue '%s' has %d in flight%n".formatted(loop.partition(), loop.inFlight())));
        }
        return String.join("", lines);
    }

    /** Represents a task of the executor of handlers. */
    private static final class Task {

        private volatile @Nullable Thread thread;

        String describe() {
            Thread running = this.thread;
            return (running == null) ? "  the executor of the handlers has not started a task\n"
                    : "  thread '%s' has not finished%n    at %s%n".formatted(running.getName(),
                            (running.getStackTrace().length > 0) ? running.getStackTrace()[0] : "its end");
        }

    }

    /** Represents a call of the store. */
    private static final class Call {

        private final String name;

        Call(String name) {
            this.name = name;
        }

    }

}

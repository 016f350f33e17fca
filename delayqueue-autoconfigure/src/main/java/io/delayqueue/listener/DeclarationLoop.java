package io.delayqueue.listener;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;

import io.delayqueue.QueueName;
import io.delayqueue.listener.poll.LoopTimer;
import io.delayqueue.listener.poll.Nanos;
import io.delayqueue.store.StoreFailures;
import io.delayqueue.store.StoreFutures;
import io.delayqueue.store.schedule.DeclaredScheduleRegistrar;
import io.delayqueue.store.schedule.FireResult;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Declares the schedules of this application in one queue, by one call at a time, and
 * repeats a call that has failed. Belongs to the thread of {@link ScheduleFiring}, except
 * for its stop.
 */
final class DeclarationLoop {

    /** Time before a call is repeated, and between calls for schedules that are lost. */
    private static final Duration RETRY = Duration.ofSeconds(5);

    private static final Logger logger = LoggerFactory.getLogger(DeclarationLoop.class);

    private final QueueName queue;

    private final LoopTimer timer;

    private final Executor storeTasks;

    private final DeclaredScheduleRegistrar declarations;

    private final BooleanSupplier listened;

    /** Set by any thread. */
    private volatile boolean stopped;

    /** Whether the queue had schedules by the last answer. */
    private boolean scheduled;

    private boolean declaring;

    /** Whether another call must follow the pending one. */
    private boolean again;

    /** How many calls have failed since one succeeded. */
    private int failures;

    /** Cancels the retry; {@code null} if none is planned. */
    private @Nullable Runnable retry;

    private long declaredAt;

    /**
     * Creates it.
     * @param storeTasks starts calls of the store
     * @param listened returns whether this process listens to the queue; otherwise it
     * does not know what nodes that listen declare
     */
    DeclarationLoop(DeclaredScheduleRegistrar declarations, QueueName queue, LoopTimer timer, Executor storeTasks,
            BooleanSupplier listened) {
        this.queue = queue;
        this.timer = timer;
        this.storeTasks = storeTasks;
        this.declarations = declarations;
        this.listened = listened;
    }

    /** Returns whether the queue has schedules, or should have some. */
    boolean hasSchedules() {
        return this.scheduled || this.declarations.count() > 0;
    }

    /** Records that a schedule has a new next time. */
    void advanced(String name, long next) {
        this.declarations.advanced(name, next);
    }

    /** Records how many schedules the queue has, and declares those that it has lost. */
    void read(FireResult firing) {
        this.scheduled = firing.count() > 0;
        boolean recent = this.timer.nanoTime() - this.declaredAt < Nanos.of(RETRY);
        if (firing.count() < this.declarations.count() && !recent) {
            declare();
        }
    }

    void declare() {
        if (this.stopped || !this.declarations.isNeeded(this.scheduled && this.listened.getAsBoolean())) {
            return;
        }
        if (this.declaring) {
            this.again = true;
            return;
        }
        cancelRetry();
        this.declaring = true;
        this.again = false;
        StoreFutures.send(this.storeTasks, this.declarations::assertAll)
            .whenComplete((done, ex) -> this.timer.after(Duration.ZERO, () -> declared(ex)));
    }

    private void declared(@Nullable Throwable failure) {
        this.declaring = false;
        this.declaredAt = this.timer.nanoTime();
        if (this.stopped) {
            return;
        }
        if (failure != null) {
            this.failures++;
            Level level = (this.failures == 1) ? Level.WARN : Level.DEBUG;
            logger.atLevel(level)
                .setCause(StoreFailures.unwrap(failure))
                .log("The schedules of queue '{}' are not declared; retrying until the store answers", this.queue);
            this.retry = this.timer.after(RETRY, this::declare);
            return;
        }
        this.failures = 0;
        if (this.again) {
            declare();
        }
    }

    /** Ends it, on any thread. */
    void stop() {
        this.stopped = true;
        this.timer.after(Duration.ZERO, this::cancelRetry);
    }

    private void cancelRetry() {
        if (this.retry != null) {
            this.retry.run();
            this.retry = null;
        }
    }

}

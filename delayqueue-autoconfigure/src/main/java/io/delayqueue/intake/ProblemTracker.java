package io.delayqueue.intake;

import java.time.Duration;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;

/**
 * Remembers one kind of problem of an intake, and since when it has lasted. Thread-safe.
 */
final class ProblemTracker {

    private final LongSupplier nanoTime;

    private @Nullable String text;

    private long since;

    ProblemTracker(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /** Records a problem; one that lasts already keeps its age. */
    synchronized void begin(String problem) {
        if (this.text == null) {
            this.since = this.nanoTime.getAsLong();
        }
        this.text = problem;
    }

    synchronized void end() {
        this.text = null;
    }

    /** Returns the problem; {@code null} if there is none. */
    synchronized @Nullable IntakeProblem current() {
        return (this.text != null)
                ? new IntakeProblem(this.text, Duration.ofNanos(this.nanoTime.getAsLong() - this.since)) : null;
    }

}

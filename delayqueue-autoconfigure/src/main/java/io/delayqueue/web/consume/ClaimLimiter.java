package io.delayqueue.web.consume;

import java.util.HashMap;
import java.util.Map;

import io.delayqueue.QueueName;
import io.delayqueue.web.http.Problem;
import io.delayqueue.web.http.Problem.Kind;
import io.delayqueue.web.http.ProblemException;

/**
 * Bounds how many claims wait, or do not wait and are being answered, together and for
 * one queue, so that consumers of one do not take the places of all others. Guarded by
 * itself: both counts change as one.
 */
final class ClaimLimiter {

    private final WaitLimits limits;

    private final Map<QueueName, Integer> taken = new HashMap<>();

    private final String doing;

    private int all;

    /**
     * Makes places that are free.
     * @param doing what those do that take them, for who finds none
     */
    ClaimLimiter(WaitLimits limits, String doing) {
        this.limits = limits;
        this.doing = doing;
    }

    /**
     * Takes a place.
     * @throws ProblemException if there is none
     */
    synchronized void take(QueueName queue) {
        int own = this.taken.getOrDefault(queue, 0);
        if (this.all >= this.limits.all()) {
            throw new ProblemException(new Problem(Kind.TOO_MANY_WAITING,
                    "%d claims are %s already (delayqueue.web.api.max-waiting)".formatted(this.all, this.doing)));
        }
        if (own >= this.limits.ofQueue()) {
            throw new ProblemException(new Problem(Kind.TOO_MANY_WAITING,
                    "%d claims of queue '%s' are %s already (delayqueue.web.api.max-waiting-per-queue)".formatted(own,
                            queue, this.doing)));
        }
        this.all++;
        this.taken.put(queue, own + 1);
    }

    synchronized void leave(QueueName queue) {
        this.all--;
        this.taken.computeIfPresent(queue, (name, own) -> (own > 1) ? own - 1 : null);
    }

    synchronized int taken() {
        return this.all;
    }

}

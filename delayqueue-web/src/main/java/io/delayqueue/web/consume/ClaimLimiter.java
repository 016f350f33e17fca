package io.delayqueue.web.consume;

import java.util.HashMap;
import java.util.Map;

import io.delayqueue.QueueName;
import io.delayqueue.web.http.Problem;
import io.delayqueue.web.http.Problem.Kind;
import io.delayqueue.web.http.ProblemException;

/**
 * Limits concurrent claims, in total and per queue, so that one queue's consumers cannot
 * starve the others. Guarded by itself: both counts change together.
 */
final class ClaimLimiter {

    private final ClaimLimits limits;

    private final Map<QueueName, Integer> taken = new HashMap<>();

    private final String doing;

    private int all;

    /**
     * Creates a limiter with all permits free.
     * @param doing what the counted claims are doing, for the problem detail
     */
    ClaimLimiter(ClaimLimits limits, String doing) {
        this.limits = limits;
        this.doing = doing;
    }

    /**
     * Takes a permit.
     * @throws ProblemException if there is none
     */
    synchronized void take(QueueName queue) {
        int own = this.taken.getOrDefault(queue, 0);
        if (this.all >= this.limits.max()) {
            throw new ProblemException(new Problem(Kind.TOO_MANY_WAITING,
                    "%d claims are %s already (delayqueue.web.api.max-waiting)".formatted(this.all, this.doing)));
        }
        if (own >= this.limits.maxPerQueue()) {
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

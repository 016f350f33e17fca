package io.delayqueue.redis;

import java.time.Duration;

/**
 * How many replicas a send waits for.
 *
 * @param replicas at least so many; 0 not to wait
 * @param timeout how long Redis lets them take, at least a millisecond
 */
public record ReplicaWait(int replicas, Duration timeout) {

    /** Does not wait. */
    static final ReplicaWait NONE = new ReplicaWait(0, Duration.ofMillis(1));

}

package io.delayqueue.redis.replication;

import java.time.Duration;

/**
 * How many replicas a send waits for.
 *
 * @param replicas at least so many; 0 not to wait
 * @param timeout how long Redis lets them take, at least a millisecond
 */
public record ReplicationRequirement(int replicas, Duration timeout) {

    /** Does not wait. */
    public static final ReplicationRequirement NONE = new ReplicationRequirement(0, Duration.ofMillis(1));

}

package io.delayqueue.redis.replication;

import java.time.Duration;

/**
 * Holds how many replicas a send waits for, and for how long.
 *
 * @param replicas their least number; 0 not to wait
 * @param timeout limit that Redis applies, at least a millisecond
 */
public record ReplicationRequirement(int replicas, Duration timeout) {

    /** Requires no replicas. */
    public static final ReplicationRequirement NONE = new ReplicationRequirement(0, Duration.ofMillis(1));

}

/**
 * Sends over dedicated connections that wait for replicas. Start at
 * {@code ReplicatedScriptRunner}.
 */
@NullMarked
package io.delayqueue.redis.replication;

import org.jspecify.annotations.NullMarked;

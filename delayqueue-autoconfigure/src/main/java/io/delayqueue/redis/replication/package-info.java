/** Sends over dedicated connections that wait for replicas. */
@NullMarked
package io.delayqueue.redis.replication;

import org.jspecify.annotations.NullMarked;

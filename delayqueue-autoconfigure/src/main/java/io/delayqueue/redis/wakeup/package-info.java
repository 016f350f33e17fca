/**
 * Subscribes partitions to their wake-ups over Redis pub/sub. Start at
 * {@code RedisWakeUps}, which implements the port; a {@code WakeUpConnection}, of Lettuce
 * or of a blocking client, carries the subscriptions, and {@code PartitionListeners}
 * holds the loops to notify.
 */
@NullMarked
package io.delayqueue.redis.wakeup;

import org.jspecify.annotations.NullMarked;

/**
 * Subscribes workers to wake-ups over Redis pub/sub.
 */
@NullMarked
package io.delayqueue.redis.wakeup;

import org.jspecify.annotations.NullMarked;

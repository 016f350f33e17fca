/**
 * The sources whose messages are in Redis. Read first:
 * {@link io.delayqueue.migrate.redis.RedissonSource}.
 */
@NullMarked
package io.delayqueue.migrate.redis;

import org.jspecify.annotations.NullMarked;

/**
 * Checks the server at the start, and the integrity of the stored keys. Start at
 * {@code RedisServerCheck} for the former, and at {@code RedisIntegrityChecker} for the
 * latter, whose findings are in {@code InvariantChecks}.
 */
@NullMarked
package io.delayqueue.redis.check;

import org.jspecify.annotations.NullMarked;

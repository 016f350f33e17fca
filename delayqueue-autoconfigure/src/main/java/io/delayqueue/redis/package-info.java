/**
 * Stores messages in Redis: the first adapter of
 * {@link io.delayqueue.store.MessageStore}, {@link io.delayqueue.store.MessageInspector}
 * and {@link io.delayqueue.store.WakeUps}. No other package accesses Redis.
 * <p>
 * Start reading at {@code RedisMessageStore}: its methods run the Lua scripts in
 * {@code resources/io/delayqueue/redis}, and the header of each script states which keys
 * it reads and writes. {@code RedisKeys} names every key. The rules that hold for all
 * scripts:
 * <ul>
 * <li>Lua moves, Java decides: a script changes state atomically and takes its limits as
 * arguments; retry policy, conversion and logging stay in Java.</li>
 * <li>All keys of a partition share one hash tag, so a partition lives in one cluster
 * slot; a queue has one partition unless it was given more.</li>
 * <li>Every key a script touches is in {@code KEYS}; no script builds a key name.</li>
 * <li>Time is the Redis server's, read by one function of the prelude.</li>
 * </ul>
 */
@NullMarked
package io.delayqueue.redis;

import org.jspecify.annotations.NullMarked;

/**
 * Real Redis servers for tests, and ways to make them fail. No Docker, no network beyond
 * loopback, nothing outside {@code target/}.
 * <p>
 * Start at {@code RedisServer}: {@code shared(binary)} is one server for the whole JVM,
 * for tests that keep to keys of their own; {@code start(binary)} is a server to kill,
 * suspend and restart. {@code RedisCluster} and {@code RedisSentinel} are made of such
 * servers, and {@code TcpProxy} stands between a client and any of them.
 * {@code RedisBinary.all()} names the versions to test on. What rules here:
 * <ul>
 * <li>A server dies with the JVM that started it, however that JVM ends.</li>
 * <li>A binary that this machine lacks skips the test and says why; a server that was
 * asked for with {@code -Ddq.redis.binary} or {@code -Ddq.redis.url} and does not work
 * fails it.</li>
 * <li>A fixture returns when its new state can be seen by a client, or throws after a
 * minute with the log of the server.</li>
 * </ul>
 */
@NullMarked
package io.delayqueue.testing;

import org.jspecify.annotations.NullMarked;

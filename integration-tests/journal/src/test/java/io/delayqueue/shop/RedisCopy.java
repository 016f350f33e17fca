package io.delayqueue.shop;

import java.util.HashMap;
import java.util.Map;

import io.delayqueue.fixtures.redis.RedisServer;
import io.lettuce.core.RestoreArgs;

/**
 * Holds the content of a Redis server at a moment, as a replica that lags has it.
 *
 * @param content the values of all keys, in the form of DUMP
 */
public record RedisCopy(Map<String, byte[]> content) {

    public static RedisCopy of(RedisServer redis) {
        Map<String, byte[]> content = new HashMap<>();
        redis.commands().keys("dq:*").forEach((key) -> content.put(key, redis.commands().dump(key)));
        return new RedisCopy(content);
    }

    /** Replaces the content of a server, which nodes may use, by this one. */
    public void restore(RedisServer redis) {
        redis.commands().flushall();
        this.content
            .forEach((key, value) -> redis.commands().restore(key, value, RestoreArgs.Builder.ttl(0).replace()));
    }

}

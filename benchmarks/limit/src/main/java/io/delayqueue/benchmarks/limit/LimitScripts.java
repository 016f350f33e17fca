package io.delayqueue.benchmarks.limit;

/**
 * Holds the least that a script must do for a message: no check of ids, no clock for the
 * sender, no fence.
 */
final class LimitScripts {

    /** Most messages that one call takes. */
    static final int BATCH = 100;

    /** Messages, scheduled; id, body, due time in ms. */
    static final String SEND = """
            redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
            redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1])
            """;

    /** Messages, scheduled; their number, all ids and bodies, all due times and ids. */
    static final String SEND_ALL = """
            local last = 2 * ARGV[1] + 1
            redis.call('HSET', KEYS[1], unpack(ARGV, 2, last))
            redis.call('ZADD', KEYS[2], unpack(ARGV, last + 1))
            """;

    /**
     * Messages, scheduled. Returns when the next message is due, the ids of those that it
     * takes, and their bodies.
     */
    static final String CLAIM = """
            local time = redis.call('TIME')
            local now = time[1] * 1000 + math.floor(time[2] / 1000)
            local ids = redis.call('ZRANGE', KEYS[2], '-inf', now, 'BYSCORE', 'LIMIT', 0, 100)
            local bodies = {}
            if ids[1] then
              bodies = redis.call('HMGET', KEYS[1], unpack(ids))
              redis.call('HDEL', KEYS[1], unpack(ids))
              redis.call('ZREMRANGEBYRANK', KEYS[2], 0, #ids - 1)
            end
            return { redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')[2] or '', ids, bodies }
            """;

    /** As CLAIM, with the third key for leases of half a minute, which may run out. */
    static final String CLAIM_LEASED = """
            local time = redis.call('TIME')
            local now = time[1] * 1000 + math.floor(time[2] / 1000)
            local first = redis.call('ZRANGE', KEYS[3], 0, 0, 'WITHSCORES')[2]
            if first and tonumber(first) <= now then
              for _, id in ipairs(redis.call('ZRANGE', KEYS[3], '-inf', now, 'BYSCORE', 'LIMIT', 0, 100)) do
                redis.call('ZADD', KEYS[2], now, id)
                redis.call('ZREM', KEYS[3], id)
              end
            end
            local ids = redis.call('ZRANGE', KEYS[2], '-inf', now, 'BYSCORE', 'LIMIT', 0, 100)
            local bodies = {}
            if ids[1] then
              bodies = redis.call('HMGET', KEYS[1], unpack(ids))
              local leases = {}
              for i, id in ipairs(ids) do leases[2 * i - 1], leases[2 * i] = now + 30000, id end
              redis.call('ZADD', KEYS[3], unpack(leases))
              redis.call('ZREMRANGEBYRANK', KEYS[2], 0, #ids - 1)
            end
            return { redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')[2] or '', ids, bodies }
            """;

    /** The keys of CLAIM_LEASED; ids. */
    static final String ACKNOWLEDGE = """
            redis.call('ZREM', KEYS[3], unpack(ARGV))
            redis.call('HDEL', KEYS[1], unpack(ARGV))
            """;

    private LimitScripts() {
    }

}

package io.delayqueue.redis.check;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.data.redis.connection.RedisServerCommands;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.RedisTemplate;

/**
 * Warns of servers that write nothing to disk, neither an append-only file nor snapshots:
 * they lose all messages when they restart. Logs nothing if {@code CONFIG} is not
 * permitted, as the settings are then unknown.
 */
final class PersistenceCheck {

    private static final Logger logger = LoggerFactory.getLogger(PersistenceCheck.class);

    private static final String AOF = "aof_enabled";

    private static final String SNAPSHOTS = "save";

    private final RedisTemplate<?, ?> template;

    PersistenceCheck(RedisTemplate<?, ?> template) {
        this.template = template;
    }

    void run() {
        try {
            List<String> forgetful = this.template
                .execute((RedisCallback<List<String>>) (connection) -> find(connection.serverCommands()), true);
            if (forgetful != null && !forgetful.isEmpty()) {
                logger.warn(
                        "Nothing is kept on disk by Redis{}, neither by an append-only file nor by snapshots: a "
                                + "restart of it loses all messages. Set 'appendonly yes'",
                        String.join(",", forgetful));
            }
        }
        catch (RuntimeException ex) {
            logger.debug("Whether Redis keeps anything on disk is not known", ex);
        }
    }

    /**
     * Reads the snapshot settings only without an append-only file: {@code CONFIG} needs
     * a right that few users have, and the server logs each refusal.
     */
    private static List<String> find(RedisServerCommands server) {
        List<String> forgetful = locations(server.info("persistence"), AOF, "0");
        forgetful.retainAll(forgetful.isEmpty() ? List.of() : locations(server.getConfig(SNAPSHOTS), SNAPSHOTS, ""));
        return forgetful;
    }

    /** Returns the locations of the servers on which a property has this value. */
    private static List<String> locations(@Nullable Properties found, String name, String value) {
        Map<String, String> values = ClusterNodes.valuesByLocation(found, name);
        values.values().removeIf((each) -> !each.strip().equals(value));
        return new ArrayList<>(values.keySet());
    }

}

package io.delayqueue.redis.check;

import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.delayqueue.redis.UnsuitableRedisException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.data.redis.core.RedisTemplate;

/**
 * Recognizes servers and proxies that speak the protocol of Redis but cannot store
 * messages in their configuration, by their own reports or by the error with which they
 * reject scripts.
 */
final class UnsupportedEngines {

    private static final Logger logger = LoggerFactory.getLogger(UnsupportedEngines.class);

    private static final String PAGE = "docs/internals/compatibility.md#";

    private static final Pattern GARNET = Pattern.compile("(?m)^garnet_version:([^\\r\\n]*)");

    /** Matches KeyDB, which reports no name; no other server reports these. */
    private static final Pattern KEYDB = Pattern.compile("(?m)^(?:executable:.*keydb|features:cluster_mget)");

    private static final Pattern ACTIVE_REPLICA = Pattern.compile("(?m)^role:active-replica");

    private static final String SETTING = "active-replica";

    private static final Pattern KEYS_CHECKED = Pattern.compile("bad lua script|KEYS should not be in expression");

    private static final Pattern NO_SCRIPTS = Pattern
        .compile("(?i)scripting support disabled|scripting disabled|could not find scripting engine"
                + "|unknown command.{0,3}eval|command.{0,3}eval(?:sha)?.{0,3} (?:is )?not support");

    private static final Pattern NOT_IN_SCRIPTS = Pattern
        .compile("(?i)not allowed from script|unknown (?:redis )?command");

    private UnsupportedEngines() {
    }

    /**
     * Rejects an engine whose scripts are not atomic, or several of whose masters would
     * hand out the same messages.
     * @param at the location of the server, after a blank; empty if there is only one
     * @param server that section of INFO, empty if the user may not read it
     * @param replication that section of INFO
     */
    static void refuse(String at, String server, String replication) {
        Matcher garnet = GARNET.matcher(server);
        if (garnet.find()) {
            throw new UnsuitableRedisException(
                    "Garnet %s%s does not report whether it runs scripts as transactions, which is off by default: "
                        .formatted(garnet.group(1), at)
                            + "two scripts that are not atomic may hand out one message twice, or lose it",
                    "Use Redis or Valkey. See %sgarnet".formatted(PAGE));
        }
        if (ACTIVE_REPLICA.matcher(replication).find()) {
            throw activeReplica(at);
        }
    }

    /**
     * Rejects KeyDB that is configured for active replicas and does not follow another
     * master yet. Skips other servers, as few users may read settings.
     */
    static void refuseSetting(List<String> servers, RedisTemplate<?, ?> template) {
        if (servers.stream().noneMatch((server) -> KEYDB.matcher(server).find())) {
            return;
        }
        Map<String, String> settings;
        try {
            settings = ClusterNodes.settings(template, SETTING);
        }
        catch (RuntimeException ex) {
            logger.warn("Cannot query whether KeyDB has active replicas: {}. With them messages are handled twice, "
                    + "or lost", ex.getMessage());
            return;
        }
        if (settings.containsValue("yes")) {
            throw activeReplica("");
        }
    }

    private static UnsuitableRedisException activeReplica(String at) {
        return new UnsuitableRedisException(
                "KeyDB%s is an active replica: each master runs scripts by itself, so that messages are handled by "
                    .formatted(at) + "several nodes at a time, and what one master settled may be undone by another",
                "Set 'active-replica no', and use replication with one master. See %skeydb".formatted(PAGE));
    }

    /**
     * Returns the reason for which a server rejects all scripts.
     * @param error its reply
     * @return {@code null} if the reason is another, such as a missing right
     */
    static @Nullable UnsuitableRedisException ofRefusal(String at, String error) {
        if (KEYS_CHECKED.matcher(error).find()) {
            return new UnsuitableRedisException(
                    "A proxy%s refuses scripts that pass keys by a local name: %s".formatted(at, error),
                    ("Set the parameter script_check_enable of the Alibaba Cloud instance to 0, or connect without the "
                            + "proxy: all keys of a script are declared and in one slot. See %salibaba-cloud-tair")
                        .formatted(PAGE));
        }
        if (NO_SCRIPTS.matcher(error).find()) {
            return new UnsuitableRedisException("This server%s does not run Lua scripts: %s".formatted(at, error),
                    "Switch scripts on, or use a server that runs them. See %sservers-without-scripts".formatted(PAGE));
        }
        return null;
    }

    /**
     * Returns the reason for which a server rejects a command inside a script.
     * @param denied the command, and the reply
     * @return {@code null} if the reason is another, such as a missing right
     */
    static @Nullable UnsuitableRedisException ofDenial(String at, String denied) {
        return NOT_IN_SCRIPTS.matcher(denied).find() ? new UnsuitableRedisException(
                "This server%s does not let scripts call a command that they need: %s".formatted(at, denied),
                "Use a server that does. See %scommands-in-scripts".formatted(PAGE)) : null;
    }

    /** Returns the exception for a clock by which messages would never be due. */
    static UnsuitableRedisException ofClock(String at, String problem) {
        return new UnsuitableRedisException("Scripts on this server%s cannot read its clock: %s".formatted(at, problem),
                "Use a server on which TIME can be called in a script. See %sthe-clock".formatted(PAGE));
    }

}

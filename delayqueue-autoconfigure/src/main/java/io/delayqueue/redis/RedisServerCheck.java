package io.delayqueue.redis;

import java.time.Duration;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.delayqueue.StoreRefusedException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.RedisTemplate;

/**
 * Looks once at the server that messages are to be kept on: whether it is new enough,
 * lets its user do what the scripts do, and does not throw messages away. What cannot
 * work is thrown, what may lose messages or time is logged.
 */
public final class RedisServerCheck {

    private static final Logger logger = LoggerFactory.getLogger(RedisServerCheck.class);

    private static final Pattern VERSION = Pattern.compile("redis_version:((\\d+)\\.(\\d+)[^\\r\\n]*)");

    private static final Pattern POLICY = Pattern.compile("maxmemory_policy:([a-z-]+)");

    private static final String NOTIFICATIONS = "notify-keyspace-events";

    /** What the probe puts in front of an error. */
    private static final Pattern COMMAND = Pattern.compile("^[A-Z]+: ");

    private static final int OLDEST_MAJOR = 6;

    private static final int OLDEST_MINOR = 2;

    private final RedisAccess redis;

    private final RedisTemplate<String, byte[]> template;

    private final WakeUpMode mode;

    public RedisServerCheck(RedisAccess redis, RedisTemplate<String, byte[]> template, WakeUpMode mode) {
        this.redis = redis;
        this.template = template;
        this.mode = mode;
    }

    /**
     * Looks at the server.
     * @param limit longest time to wait
     * @return whether the server answered and can be written to; if not, nothing is known
     * @throws UnsuitableRedisException if the server cannot do what is needed
     */
    public boolean run(Duration limit) {
        List<Object> reply;
        try {
            reply = this.redis.probe().get(limit.toMillis(), TimeUnit.MILLISECONDS);
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            return false;
        }
        catch (TimeoutException ex) {
            return false;
        }
        catch (ExecutionException ex) {
            if (ex.getCause() instanceof StoreRefusedException refused) {
                throw new UnsuitableRedisException(String.valueOf(refused.getMessage()),
                        "Allow the Redis user EVALSHA, EVAL and the commands of the scripts on the keys of the "
                                + "namespace, or name another user.");
            }
            if (RedisFailures.isLockedOut(ex)) {
                throw new UnsuitableRedisException("Redis does not let this user in: " + RedisFailures.errorText(ex),
                        "Correct spring.data.redis.username and spring.data.redis.password.");
            }
            logger.debug("Redis cannot be looked at", ex);
            return false;
        }
        requireVersion(Replies.text(reply.get(0)));
        String denied = Replies.text(reply.get(2));
        if (RedisFailures.isNotNow(COMMAND.matcher(denied).replaceFirst(""))) {
            logger.debug("Redis cannot be written to: {}", denied);
            return false;
        }
        requirePermissions(denied);
        warnOfEviction(Replies.text(reply.get(1)));
        warnOfWakeUps(Replies.number(reply.get(3)) == 1);
        return true;
    }

    private static void requireVersion(String info) {
        Matcher version = VERSION.matcher(info);
        if (!version.find()) {
            return; // the user may not ask; a server that is too old refuses the first
                    // script
        }
        int major = Integer.parseInt(version.group(2));
        int minor = Integer.parseInt(version.group(3));
        if (major < OLDEST_MAJOR || (major == OLDEST_MAJOR && minor < OLDEST_MINOR)) {
            throw new UnsuitableRedisException("Redis %s is too old: version %d.%d or later is needed"
                .formatted(version.group(1), OLDEST_MAJOR, OLDEST_MINOR), "Use a newer Redis.");
        }
    }

    private static void requirePermissions(String denied) {
        if (!denied.isEmpty()) {
            throw new UnsuitableRedisException("The Redis user lacks a permission: " + denied,
                    "Allow it that command on the keys of the namespace, or name another user.");
        }
    }

    private static void warnOfEviction(String info) {
        Matcher policy = POLICY.matcher(info);
        if (policy.find() && policy.group(1).startsWith("allkeys-")) {
            logger.warn("Redis has maxmemory-policy '{}': when its memory is full it removes keys and with them "
                    + "messages, and nobody is told. Use 'noeviction'", policy.group(1));
        }
    }

    private void warnOfWakeUps(boolean refused) {
        if (refused && this.mode == WakeUpMode.CHANNEL && this.redis.noticeRefusal()) {
            logger.warn("The Redis user may not publish wake-ups: messages may be found by the safety poll only, "
                    + "some seconds late. Allow it the channels '<namespace>:*:wake'");
        }
        if (this.mode == WakeUpMode.KEYSPACE) {
            warnOfKeyspace();
        }
    }

    private void warnOfKeyspace() {
        RedisCallback<Boolean> isCluster = RedisClusterConnection.class::isInstance;
        if (Boolean.TRUE.equals(this.template.execute(isCluster, true))
                && !RedisAccess.isLettuceCluster(this.template.getRequiredConnectionFactory())) {
            logger.warn("delayqueue.wakeup is 'keyspace' on a cluster, whose notifications are each node's own: with "
                    + "a client other than Lettuce those of one node are heard, and other messages are found by the "
                    + "safety poll. Use Lettuce, or wakeup 'channel'");
        }
        String lacking;
        try {
            Properties found = this.template.execute(
                    (RedisCallback<Properties>) (connection) -> connection.serverCommands().getConfig(NOTIFICATIONS),
                    true);
            lacking = lacking(found);
        }
        catch (RuntimeException ex) {
            logger.warn("delayqueue.wakeup is 'keyspace', and whether notify-keyspace-events has 'Kz' cannot be "
                    + "asked: {}. Without it messages are found by the safety poll only", ex.getMessage());
            return;
        }
        if (!lacking.isEmpty()) {
            logger.error("delayqueue.wakeup is 'keyspace', but {}, and it needs 'Kz': messages are found by the "
                    + "safety poll only. Set it in redis.conf, or use wakeup 'channel'", lacking);
        }
    }

    /**
     * Who does not notify, and what it has instead. A cluster names every node, replicas
     * too: each may be a master one day.
     */
    private static String lacking(@Nullable Properties found) {
        if (found == null || found.isEmpty()) {
            return "Redis has " + NOTIFICATIONS + " ''";
        }
        return found.stringPropertyNames()
            .stream()
            .sorted()
            .filter((name) -> !tellsOfSortedSets(found.getProperty(name)))
            .map((name) -> "Redis%s has %s '%s'".formatted(
                    name.equals(NOTIFICATIONS) ? "" : " at " + name.replace("." + NOTIFICATIONS, ""), NOTIFICATIONS,
                    found.getProperty(name)))
            .collect(Collectors.joining(", "));
    }

    private static boolean tellsOfSortedSets(String flags) {
        return flags.contains("K") && (flags.contains("z") || flags.contains("A"));
    }

}

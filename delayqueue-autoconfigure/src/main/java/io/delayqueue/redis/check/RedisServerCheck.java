package io.delayqueue.redis.check;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.delayqueue.MessageLimits;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.redis.RedisScriptExecutor;
import io.delayqueue.redis.UnsuitableRedisException;
import io.delayqueue.redis.script.RedisExceptionTranslator;
import io.delayqueue.redis.wakeup.WakeUpMode;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.RedisTemplate;

/**
 * Checks once the server that stores messages, or every master of a cluster: whether it
 * is new enough, lets its user do what the scripts do, has a clock that scripts can read,
 * and does not evict messages. Throws if it cannot work, and logs if it may lose or delay
 * messages.
 */
public final class RedisServerCheck {

    private static final Logger logger = LoggerFactory.getLogger(RedisServerCheck.class);

    private static final Pattern VERSION = Pattern.compile("redis_version:((\\d+)\\.(\\d+)[^\\r\\n]*)");

    private static final String AOF = "aof_enabled";

    private static final String NOTIFICATIONS = "notify-keyspace-events";

    /** Older than this library, so no correct clock shows it. */
    private static final Instant MIN_TIME = Instant.parse("2020-01-01T00:00:00Z");

    /** Calls after which a clock that has not advanced is reported as standing still. */
    private static final int CLOCK_CALLS = 6;

    private static final Duration CLOCK_PAUSE = Duration.ofMillis(50);

    private static final int MIN_MAJOR = 6;

    private static final int MIN_MINOR = 2;

    private final RedisScriptExecutor redis;

    private final RedisTemplate<String, byte[]> template;

    private final WakeUpMode mode;

    public RedisServerCheck(RedisScriptExecutor redis, RedisTemplate<String, byte[]> template, WakeUpMode mode) {
        this.redis = redis;
        this.template = template;
        this.mode = mode;
    }

    /**
     * Checks the server, on a cluster every master.
     * @param limit longest time to wait for an answer
     * @return whether all answered and accept writes; if not, nothing is known
     * @throws UnsuitableRedisException if one cannot do what is needed
     */
    public boolean run(Duration limit) {
        // First checks that Redis answers: the call that reads the masters has no limit
        // of ours, and would delay the start.
        Map<String, Integer> probes = ClusterNodes.ANY;
        List<ProbeReply> replies = probe(probes, limit);
        if (replies.isEmpty()) {
            return false;
        }
        Boolean cluster = isCluster();
        if (cluster == null) {
            return false;
        }
        if (cluster) {
            probes = masters();
            replies = probe(probes, limit);
            if (replies.isEmpty()) {
                return false;
            }
        }
        if (!clocksAdvance(probes, replies, limit)) {
            return false;
        }
        UnsupportedEngines.refuseSetting(replies.stream().map(ProbeReply::server).toList(), this.template);
        warnOfEviction(replies);
        warnOfMissingPersistence(this.template);
        warnOfWakeUps(replies.stream().anyMatch(ProbeReply::mayNotPublish), cluster);
        if (cluster) {
            warnOfHangs();
        }
        return true;
    }

    /**
     * Returns whether there may be several masters; {@code null} if the connection is
     * lost.
     */
    private @Nullable Boolean isCluster() {
        try {
            return ClusterNodes.isCluster(this.template);
        }
        catch (RuntimeException ex) {
            logger.debug("Whether Redis is a cluster is not known", ex);
            return null;
        }
    }

    /** Returns the masters; empty if the client cannot determine them now. */
    private Map<String, Integer> masters() {
        try {
            return ClusterNodes.probes(this.template);
        }
        catch (RuntimeException ex) {
            logger.debug("The masters of the cluster are not known", ex);
            return Map.of();
        }
    }

    /** Probes all at once; empty if one does not answer or rejects writes. */
    private List<ProbeReply> probe(Map<String, Integer> probes, Duration limit) {
        Map<String, CompletableFuture<List<Object>>> sent = new LinkedHashMap<>();
        probes.forEach((address, number) -> sent.put(address.isEmpty() ? "" : " at " + address, send(number, limit)));
        List<ProbeReply> replies = new ArrayList<>();
        for (Map.Entry<String, CompletableFuture<List<Object>>> each : sent.entrySet()) {
            ProbeReply reply = await(each.getKey(), each.getValue(), limit);
            if (reply == null) {
                return List.of();
            }
            replies.add(reply);
        }
        return replies;
    }

    /**
     * Sends a probe, and another one if that fails within half of the limit: where Redis
     * rejects a user, Lettuce may report only that the connection was closed.
     */
    private CompletableFuture<List<Object>> send(int number, Duration limit) {
        long begin = System.nanoTime();
        CompletableFuture<List<Object>> answer = this.redis.probe(number);
        boolean again = answer.isCompletedExceptionally() && System.nanoTime() - begin < limit.toNanos() / 2;
        return again ? this.redis.probe(number) : answer;
    }

    /**
     * Repeats the probe until each clock has advanced. Within a script it may stand
     * still.
     * @return whether all have; if not, one did not answer
     * @throws UnsuitableRedisException if one stands still
     */
    private boolean clocksAdvance(Map<String, Integer> probes, List<ProbeReply> replies, Duration limit) {
        Map<String, Long> still = new LinkedHashMap<>();
        replies.forEach((reply) -> still.put(reply.at(), reply.time()));
        for (int call = 1; call <= CLOCK_CALLS && !still.isEmpty(); call++) {
            LockSupport.parkNanos((call == 1) ? 0 : CLOCK_PAUSE.toNanos());
            List<ProbeReply> now = probe(probes, limit);
            if (now.isEmpty()) {
                return false;
            }
            now.forEach((reply) -> still.computeIfPresent(reply.at(),
                    (at, before) -> (reply.time() > before) ? null : reply.time()));
        }
        if (!still.isEmpty()) {
            Map.Entry<String, Long> clock = still.entrySet().iterator().next();
            throw UnsupportedEngines.ofClock(clock.getKey(),
                    "it stands still; TIME answered %d µs in each of %d calls, over %d ms or more"
                        .formatted(clock.getValue(), CLOCK_CALLS + 1, (CLOCK_CALLS - 1) * CLOCK_PAUSE.toMillis()));
        }
        return true;
    }

    private static @Nullable ProbeReply await(String at, CompletableFuture<List<Object>> answer, Duration limit) {
        List<Object> reply;
        try {
            reply = answer.get(limit.toMillis(), TimeUnit.MILLISECONDS);
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            return null;
        }
        catch (TimeoutException ex) {
            return null;
        }
        catch (ExecutionException ex) {
            requireAdmission(at, ex);
            logger.debug("Redis{} did not answer the probe", at, ex);
            return null;
        }
        ProbeReply read = ProbeReply.of(at, reply);
        requireVersion(at, read.server());
        if (read.rejectsWrites()) {
            logger.debug("Redis{} cannot be written to: {}", at, read.denied());
            return null;
        }
        UnsupportedEngines.refuse(at, read.server(), read.replication());
        requirePermissions(at, read.denied());
        requireTime(at, read.time());
        return read;
    }

    private static void requireAdmission(String at, ExecutionException failure) {
        if (failure.getCause() instanceof StoreRefusedException refused) {
            UnsuitableRedisException foreign = UnsupportedEngines.ofRefusal(at,
                    RedisExceptionTranslator.errorText(refused));
            if (foreign != null) {
                throw foreign;
            }
            throw new UnsuitableRedisException(refused.getMessage() + (at.isEmpty() ? "" : "; that was Redis" + at),
                    "Allow the Redis user EVALSHA, EVAL and the commands of the scripts on the keys of the "
                            + "namespace, or name another user.");
        }
        if (RedisExceptionTranslator.isAuthenticationError(failure)) {
            throw new UnsuitableRedisException(
                    "Redis%s does not let this user in: %s".formatted(at, RedisExceptionTranslator.errorText(failure)),
                    "Correct spring.data.redis.username and spring.data.redis.password.");
        }
    }

    private static void requireVersion(String at, String info) {
        Matcher version = VERSION.matcher(info);
        if (!version.find()) {
            // The user may not read it; a server that is too old rejects the first
            // script.
            return;
        }
        int major = Integer.parseInt(version.group(2));
        int minor = Integer.parseInt(version.group(3));
        if (major < MIN_MAJOR || (major == MIN_MAJOR && minor < MIN_MINOR)) {
            throw new UnsuitableRedisException("Redis %s%s is too old: version %d.%d or later is needed"
                .formatted(version.group(1), at, MIN_MAJOR, MIN_MINOR), "Use a newer Redis.");
        }
    }

    private static void requirePermissions(String at, String denied) {
        UnsuitableRedisException foreign = UnsupportedEngines.ofDenial(at, denied);
        if (foreign != null) {
            throw foreign;
        }
        if (!denied.isEmpty()) {
            throw new UnsuitableRedisException("The Redis user lacks a permission%s: %s".formatted(at, denied),
                    "Allow it that command on the keys of the namespace, or name another user.");
        }
    }

    /** Rejects zero, and seconds instead of milliseconds. */
    private static void requireTime(String at, long micros) {
        if (micros < MIN_TIME.toEpochMilli() * 1_000 || micros >= MessageLimits.MAX_DUE_AT.toEpochMilli() * 1_000) {
            throw UnsupportedEngines.ofClock(at, "TIME answered %d µs since 1970, which is before %s or after %s"
                .formatted(micros, MIN_TIME, MessageLimits.MAX_DUE_AT));
        }
    }

    private static void warnOfEviction(List<ProbeReply> replies) {
        String evicting = replies.stream()
            .filter((reply) -> reply.evictionPolicy() != null)
            .map((reply) -> "Redis%s has maxmemory-policy '%s'".formatted(reply.at(), reply.evictionPolicy()))
            .collect(Collectors.joining(", "));
        if (!evicting.isEmpty()) {
            logger.warn("{}: when its memory is full it removes keys and with them messages, without a notice. "
                    + "Use 'noeviction'", evicting);
        }
    }

    /**
     * Warns of servers that write nothing to disk, neither an append-only file nor
     * snapshots. Reads the snapshot settings only without an append-only file: {@code
     * CONFIG} needs a right that few users have, and the server logs each refusal.
     */
    static void warnOfMissingPersistence(RedisTemplate<?, ?> template) {
        try {
            Map<String, String> unpersisted = ClusterNodes.read(template, (server) -> server.info("persistence"), AOF);
            unpersisted.values().removeIf((enabled) -> !enabled.strip().equals("0"));
            if (!unpersisted.isEmpty()) {
                Map<String, String> snapshots = ClusterNodes.settings(template, "save");
                unpersisted.keySet().removeIf((at) -> !snapshots.getOrDefault(at, "unknown").isBlank());
            }
            if (!unpersisted.isEmpty()) {
                logger.warn(
                        "Nothing is kept on disk by Redis{}, neither by an append-only file nor by snapshots: a "
                                + "restart of it loses all messages. Set 'appendonly yes'",
                        String.join(",", unpersisted.keySet()));
            }
        }
        catch (RuntimeException ex) {
            logger.debug("Whether Redis keeps anything on disk is not known", ex);
        }
    }

    /** Checks Lettuce only, as the settings of other clients are unknown. */
    private void warnOfHangs() {
        RedisConnectionFactory factory = this.template.getRequiredConnectionFactory();
        if (!RedisScriptExecutor.isLettuce(factory)) {
            return;
        }
        List<String> lacking = ClusterRefreshCheck.lacking((LettuceConnectionFactory) factory);
        if (!lacking.isEmpty()) {
            logger.warn("The client will not notice when a master of the cluster hangs: its messages wait, and "
                    + "sends to it fail, as long as that lasts. Set {}", String.join(", and ", lacking));
        }
    }

    private void warnOfWakeUps(boolean refused, boolean cluster) {
        if (refused && this.mode == WakeUpMode.CHANNEL && this.redis.recordRefusedWakeUp()) {
            logger.warn("The Redis user may not publish wake-ups: messages may be found by the safety poll only, "
                    + "some seconds late. Allow it the channels '<namespace>:{*'");
        }
        if (this.mode == WakeUpMode.KEYSPACE) {
            warnOfKeyspace(cluster);
        }
    }

    private void warnOfKeyspace(boolean cluster) {
        if (cluster && !RedisScriptExecutor.isLettuceCluster(this.template.getRequiredConnectionFactory())) {
            logger.warn("delayqueue.wakeup is 'keyspace' on a cluster, whose notifications are each node's own: with "
                    + "a client other than Lettuce only those of one node are received; other messages are found by the "
                    + "safety poll. Use Lettuce, or wakeup 'channel'");
        }
        Map<String, String> settings;
        try {
            // Including replicas: each may become a master.
            settings = ClusterNodes.settingsOfAll(this.template, NOTIFICATIONS);
        }
        catch (RuntimeException ex) {
            logger.warn("delayqueue.wakeup is 'keyspace', and whether notify-keyspace-events has 'Kz' cannot be "
                    + "queried: {}. Without it messages are found by the safety poll only", ex.getMessage());
            return;
        }
        String lacking = (settings.isEmpty() ? Map.of("", "") : settings).entrySet()
            .stream()
            .filter((setting) -> !announcesSortedSets(setting.getValue()))
            .map((setting) -> "Redis%s has %s '%s'".formatted(setting.getKey(), NOTIFICATIONS, setting.getValue()))
            .collect(Collectors.joining(", "));
        if (!lacking.isEmpty()) {
            logger.error("delayqueue.wakeup is 'keyspace', but {}, and it needs 'Kz': messages are found by the "
                    + "safety poll only. Set it in redis.conf, or use wakeup 'channel'", lacking);
        }
    }

    private static boolean announcesSortedSets(String flags) {
        return flags.contains("K") && (flags.contains("z") || flags.contains("A"));
    }

}

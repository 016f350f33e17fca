package io.delayqueue.redis.check;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.delayqueue.StoreRefusedException;
import io.delayqueue.redis.RedisScriptExecutor;
import io.delayqueue.redis.script.RedisExceptionTranslator;
import io.delayqueue.redis.script.ScriptCodec;
import io.delayqueue.redis.wakeup.WakeUpMode;
import io.delayqueue.store.FailureEffects;
import io.delayqueue.store.ServerIssue;
import io.delayqueue.store.ServerIssue.Kind;
import io.delayqueue.store.ServerMonitor;

import org.springframework.data.redis.core.RedisTemplate;

/**
 * Checks the server, on a cluster every master, with the probe of
 * {@link RedisServerCheck}, as its state may change after the start.
 * <p>
 * <strong>Threads.</strong> Any. Clients may wait for connections, and some for each
 * answer, so each check starts on a thread of its own, one at a time.
 */
public final class RedisServerMonitor implements ServerMonitor {

    private static final Pattern POLICY = Pattern.compile("(?m)^maxmemory_policy:(allkeys-[a-z]+)");

    private static final Pattern USED = Pattern.compile("(?m)^used_memory:(\\d{1,18})\\b");

    private static final Pattern MOST = Pattern.compile("(?m)^maxmemory:(\\d{1,18})\\b");

    /** Percentage of the memory limit. */
    private static final int NEARLY_FULL = 90;

    private final RedisScriptExecutor redis;

    private final RedisTemplate<String, byte[]> template;

    private final WakeUpMode mode;

    private CompletableFuture<List<ServerIssue>> latest = CompletableFuture.completedFuture(List.of());

    public RedisServerMonitor(RedisScriptExecutor redis, RedisTemplate<String, byte[]> template, WakeUpMode mode) {
        this.redis = redis;
        this.template = template;
        this.mode = mode;
    }

    @Override
    public synchronized CompletableFuture<List<ServerIssue>> look() {
        if (this.latest.isDone()) {
            this.latest = CompletableFuture.supplyAsync(this::ask, RedisServerMonitor::onThread)
                .thenCompose(Function.identity());
        }
        return this.latest;
    }

    private static void onThread(Runnable call) {
        Thread thread = new Thread(call, "delayqueue-server-watch");
        thread.setDaemon(true);
        thread.start();
    }

    private CompletableFuture<List<ServerIssue>> ask() {
        Map<String, Integer> probes = ClusterMasters.isCluster(this.template) ? ClusterMasters.probes(this.template)
                : Map.of("", 0);
        CompletableFuture<List<ServerIssue>> all = CompletableFuture.completedFuture(List.of());
        for (Map.Entry<String, Integer> probe : probes.entrySet()) {
            String at = probe.getKey();
            all = all.thenCombine(this.redis.probe(probe.getValue())
                .thenApply((reply) -> issues(at, reply))
                .exceptionally((failure) -> List.of(issueOf(at, failure))), RedisServerMonitor::both);
        }
        return all;
    }

    private static List<ServerIssue> both(List<ServerIssue> some, List<ServerIssue> others) {
        List<ServerIssue> both = new ArrayList<>(some);
        both.addAll(others);
        return both;
    }

    private List<ServerIssue> issues(String at, List<Object> reply) {
        List<ServerIssue> issues = new ArrayList<>();
        String memory = ScriptCodec.text(reply.get(1));
        String denied = ScriptCodec.text(reply.get(2));
        if (!denied.isEmpty()) {
            issues.add(
                    new ServerIssue(RedisExceptionTranslator.isWriteUnavailable(RedisServerCheck.withoutCommand(denied))
                            ? Kind.REFUSES : Kind.FORBIDS, at, denied));
        }
        long most = bytes(MOST, memory);
        Matcher policy = POLICY.matcher(memory);
        if (most > 0 && policy.find()) {
            issues.add(new ServerIssue(Kind.EVICTS, at, policy.group(1)));
        }
        else if (most > 0 && bytes(USED, memory) >= most / 100.0 * NEARLY_FULL) {
            issues.add(new ServerIssue(Kind.NEARLY_FULL, at,
                    "%.0f %% of %.0f MiB".formatted(bytes(USED, memory) * 100.0 / most, most / (double) (1 << 20))));
        }
        if (this.mode == WakeUpMode.CHANNEL && ScriptCodec.number(reply.get(3)) == 1) {
            issues.add(new ServerIssue(Kind.MUTE, at, ""));
        }
        return issues;
    }

    /** Returns the issue of a server whose probe failed; other servers may be fine. */
    private static ServerIssue issueOf(String at, Throwable failure) {
        Throwable cause = FailureEffects.unwrap(failure);
        String error = RedisExceptionTranslator.errorText(cause);
        if (RedisExceptionTranslator.isWriteUnavailable(error)) {
            return new ServerIssue(Kind.REFUSES, at, error);
        }
        if (cause instanceof StoreRefusedException || RedisExceptionTranslator.isAuthenticationError(cause)) {
            return new ServerIssue(Kind.FORBIDS, at, error);
        }
        return new ServerIssue(Kind.SILENT, at, String.valueOf(cause.getMessage()));
    }

    private static long bytes(Pattern pattern, String memory) {
        Matcher found = pattern.matcher(memory);
        return found.find() ? Long.parseLong(found.group(1)) : 0;
    }

}

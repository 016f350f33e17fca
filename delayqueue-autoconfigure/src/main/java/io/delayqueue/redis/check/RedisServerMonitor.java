package io.delayqueue.redis.check;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.delayqueue.StoreRefusedException;
import io.delayqueue.redis.RedisScriptExecutor;
import io.delayqueue.redis.script.RedisExceptionTranslator;
import io.delayqueue.redis.wakeup.WakeUpMode;
import io.delayqueue.store.DaemonThreads;
import io.delayqueue.store.ServerIssue;
import io.delayqueue.store.ServerIssue.Kind;
import io.delayqueue.store.ServerMonitor;
import io.delayqueue.store.StoreFailures;

import org.springframework.data.redis.core.RedisTemplate;

/**
 * Repeats the probe of {@link RedisServerCheck} when it is called, on a cluster for every
 * master, because the state of a server may change after the start. The dashboard calls
 * it every 20 s while it is open.
 * <p>
 * <strong>Threads.</strong> Any. Clients may wait for connections, and some for each
 * answer, so each check starts on a thread of its own, one at a time.
 */
public final class RedisServerMonitor implements ServerMonitor {

    private static final Pattern USED = Pattern.compile("(?m)^used_memory:(\\d{1,18})\\b");

    private static final Pattern MAX = Pattern.compile("(?m)^maxmemory:(\\d{1,18})\\b");

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
    public String address() {
        return RedisAddress.of(this.template.getConnectionFactory());
    }

    @Override
    public synchronized CompletableFuture<List<ServerIssue>> check() {
        if (this.latest.isDone()) {
            this.latest = CompletableFuture
                .supplyAsync(this::ask, (call) -> DaemonThreads.start(call, "delayqueue-server-watch"))
                .thenCompose(Function.identity());
        }
        return this.latest;
    }

    private CompletableFuture<List<ServerIssue>> ask() {
        List<CompletableFuture<List<ServerIssue>>> all = new ArrayList<>();
        ClusterNodes.probes(this.template)
            .forEach((at,
                    probe) -> all.add(this.redis.probe(probe)
                        .thenApply((reply) -> issues(ProbeReply.of(at, reply)))
                        .exceptionally((failure) -> List.of(issueOf(at, failure)))));
        return CompletableFuture.allOf(all.toArray(CompletableFuture[]::new))
            .thenApply((done) -> all.stream().flatMap((issues) -> issues.join().stream()).toList());
    }

    private List<ServerIssue> issues(ProbeReply reply) {
        List<ServerIssue> issues = new ArrayList<>();
        if (!reply.denied().isEmpty()) {
            issues
                .add(new ServerIssue(reply.rejectsWrites() ? Kind.REFUSES : Kind.FORBIDS, reply.at(), reply.denied()));
        }
        long max = bytes(MAX, reply.memory());
        long used = bytes(USED, reply.memory());
        String policy = reply.evictionPolicy();
        if (max > 0 && policy != null) {
            issues.add(new ServerIssue(Kind.EVICTS, reply.at(), policy));
        }
        else if (max > 0 && used >= max / 100.0 * NEARLY_FULL) {
            issues.add(new ServerIssue(Kind.NEARLY_FULL, reply.at(),
                    "%.0f %% of %.0f MiB".formatted(used * 100.0 / max, max / (double) (1 << 20))));
        }
        if (this.mode == WakeUpMode.CHANNEL && reply.mayNotPublish()) {
            issues.add(new ServerIssue(Kind.PUBLISH_DENIED, reply.at(), ""));
        }
        return issues;
    }

    /** Returns the issue of a server whose probe failed; other servers may be fine. */
    private static ServerIssue issueOf(String at, Throwable failure) {
        Throwable cause = StoreFailures.unwrap(failure);
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

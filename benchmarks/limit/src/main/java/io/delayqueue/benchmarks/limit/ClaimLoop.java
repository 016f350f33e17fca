package io.delayqueue.benchmarks.limit;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

import io.delayqueue.benchmarks.contender.Wall;
import io.delayqueue.benchmarks.contender.Work;
import io.lettuce.core.LettuceFutures;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;

/**
 * Takes what is due, a hundred at a time, and hands it over in its own thread. While more
 * is due, two claims are on their way, so that neither Redis nor the handler waits. It
 * polls only when a message is due: the last claim returned when that is, and the senders
 * of this process say so too. Threads: one runs it, others wake and stop it.
 */
final class ClaimLoop implements Runnable {

    private static final long NEVER = Long.MAX_VALUE;

    private final StatefulRedisConnection<String, String> connection;

    private final String[] keys;

    private final boolean leased;

    private final Consumer<Work> handler;

    private final Thread thread;

    /** When the next message is due, in milliseconds since 1970. */
    private final AtomicLong nextAt = new AtomicLong();

    private final Deque<RedisFuture<List<Object>>> claims = new ArrayDeque<>();

    private final List<RedisFuture<?>> acknowledgements = new ArrayList<>();

    private volatile boolean settled = true;

    private volatile boolean stopped;

    /**
     * Creates a loop with a thread that is not started.
     * @param leased whether to lease and to acknowledge, or to delete at once
     */
    ClaimLoop(StatefulRedisConnection<String, String> connection, String[] keys, boolean leased,
            Consumer<Work> handler) {
        this.connection = connection;
        this.keys = keys;
        this.leased = leased;
        this.handler = handler;
        this.thread = new Thread(this, "claim-" + keys[0]);
    }

    void start() {
        this.connection.setAutoFlushCommands(false);
        this.thread.start();
    }

    @Override
    public void run() {
        String claim = load(this.leased ? LimitScripts.CLAIM_LEASED : LimitScripts.CLAIM);
        String acknowledge = load(LimitScripts.ACKNOWLEDGE);
        boolean behind = false;
        while (!this.stopped || !this.claims.isEmpty()) {
            if (this.claims.isEmpty() && !behind) {
                awaitDue();
            }
            if (!this.stopped) {
                while (this.claims.size() < (behind ? 2 : 1)) {
                    claim(claim);
                }
            }
            if (!this.claims.isEmpty()) {
                behind = handOver(this.claims.remove(), claim, acknowledge, behind);
            }
        }
        await(this.acknowledgements);
        this.settled = true;
        this.connection.close();
    }

    private String load(String script) {
        RedisFuture<String> digest = this.connection.async().scriptLoad(script);
        this.connection.flushCommands();
        return digest.toCompletableFuture().join();
    }

    private void awaitDue() {
        for (long at = this.nextAt.get(); !this.stopped; at = this.nextAt.get()) {
            long micros = (at == NEVER) ? TimeUnit.HOURS.toMicros(1)
                    : TimeUnit.MILLISECONDS.toMicros(at) - Wall.micros();
            if (micros <= 0) {
                return;
            }
            // Real time: until the next message is due.
            LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(micros));
        }
    }

    private void claim(String digest) {
        this.nextAt.set(NEVER);
        this.claims.add(this.connection.async().evalsha(digest, ScriptOutputType.MULTI, this.keys));
        this.connection.flushCommands();
    }

    /** Handles a batch; returns whether more is due. */
    private boolean handOver(RedisFuture<List<Object>> answer, String claim, String acknowledge, boolean behind) {
        List<Object> reply = answer.toCompletableFuture().join();
        String next = (String) reply.get(0);
        wakeAt(next.isEmpty() ? NEVER : (long) Math.ceil(Double.parseDouble(next)));
        List<?> ids = (List<?>) reply.get(1);
        boolean more = this.nextAt.get() <= System.currentTimeMillis();
        if (more && behind && !this.stopped) {
            claim(claim); // its messages arrive while these are handled
        }
        if (this.leased && !ids.isEmpty()) {
            this.settled = false;
        }
        ((List<?>) reply.get(2)).forEach((body) -> this.handler.accept(Work.fromJson((String) body)));
        if (this.leased && !ids.isEmpty()) {
            this.acknowledgements.removeIf(RedisFuture::isDone);
            this.acknowledgements.add(this.connection.async()
                .evalsha(acknowledge, ScriptOutputType.STATUS, this.keys, ids.toArray(String[]::new)));
            this.connection.flushCommands();
        }
        if (!more && this.claims.isEmpty()) {
            await(this.acknowledgements);
            this.acknowledgements.clear();
            this.settled = true;
        }
        return more;
    }

    private static void await(List<RedisFuture<?>> answers) {
        if (!LettuceFutures.awaitAll(1, TimeUnit.MINUTES, answers.toArray(RedisFuture[]::new))) {
            throw new IllegalStateException("Redis did not answer within a minute");
        }
    }

    /** Learns when a message is due. */
    void wakeAt(long millis) {
        if (this.nextAt.getAndAccumulate(millis, Math::min) > millis && Thread.currentThread() != this.thread) {
            LockSupport.unpark(this.thread);
        }
    }

    boolean isSettled() {
        return this.settled;
    }

    void stop() throws InterruptedException {
        this.stopped = true;
        LockSupport.unpark(this.thread);
        this.thread.join();
    }

}

package io.delayqueue.benchmarks.jmh;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.redis.script.RedisScript;
import io.delayqueue.redis.script.ScriptRunner;
import io.delayqueue.store.Partition;
import io.delayqueue.store.WakeUpSignal;
import io.delayqueue.store.WakeUps;
import org.jspecify.annotations.Nullable;

/**
 * Answers scripts as Redis does, on one thread like the client's event loop, with replies
 * that are made before. Threads: any.
 */
final class StubRedis implements ScriptRunner, WakeUps {

    /** Beyond what a node holds at a time, so that no id is leased twice. */
    private static final int POOL = 1000;

    private static final int CLAIM_HEADER = 8;

    private static final byte[] NOTHING = {};

    private final ExecutorService client = Executors.newSingleThreadExecutor((task) -> {
        Thread thread = new Thread(task, "client");
        thread.setDaemon(true);
        return thread;
    });

    private final List<byte[]> ids = new ArrayList<>();

    private final byte[] due = ascii(Long.toString(System.currentTimeMillis() - 1000));

    private final byte[] value;

    private final AtomicInteger sends = new AtomicInteger();

    private final AtomicInteger available = new AtomicInteger();

    private final AtomicInteger unacknowledged = new AtomicInteger();

    private final AtomicReference<CountDownLatch> done = new AtomicReference<>(new CountDownLatch(1));

    private volatile @Nullable Listener listener;

    private int next;

    /**
     * Creates a Redis without messages.
     * @param envelope of all messages that it hands out
     */
    StubRedis(String envelope) {
        this.value = ascii("sABCDEFG" + envelope);
        for (int i = 0; i < POOL; i++) {
            this.ids.add(ascii("message-%08d".formatted(i)));
        }
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    @Override
    public CompletableFuture<List<Object>> run(RedisScript script, byte[][] keys, byte[][] arguments) {
        if (script.name().equals("check-server")) {
            return CompletableFuture.failedFuture(new StoreUnavailableException("no server", Effect.NONE, null));
        }
        CompletableFuture<List<Object>> answer = new CompletableFuture<>();
        this.client.execute(() -> answer.complete(reply(script.name(), arguments)));
        return answer;
    }

    private List<Object> reply(String script, byte[][] arguments) {
        return switch (script) {
            case "send" -> {
                this.sends.incrementAndGet();
                yield dues((arguments.length - 1) / 3);
            }
            case "claim" -> claimed(Integer.parseInt(new String(arguments[0], StandardCharsets.US_ASCII)));
            case "acknowledge" -> acknowledged(arguments);
            case "partitions" -> List.of(NOTHING, System.currentTimeMillis());
            default -> List.of(0L, 1L, 0L, 0L);
        };
    }

    private static List<Object> dues(int messages) {
        List<Object> dues = new ArrayList<>(messages);
        for (int i = 0; i < messages; i++) {
            dues.add(1_790_000_000_000L);
        }
        return dues;
    }

    private List<Object> claimed(int limit) {
        int size = Math.min(limit, this.available.get());
        int left = this.available.addAndGet(-size);
        long now = System.currentTimeMillis();
        List<Object> reply = new ArrayList<>(CLAIM_HEADER + 3 * size);
        reply.addAll(List.of(now * 1000, (left > 0) ? now : 0L, ascii(Long.toString(now * 1000 + 30_000_000)), 0L, 0L,
                0L, 1L, (long) size));
        for (int i = 0; i < size; i++) {
            reply.add(this.ids.get(this.next++ % POOL));
            reply.add(this.due);
        }
        for (int i = 0; i < size; i++) {
            reply.add(this.value);
        }
        return reply;
    }

    /** Counts the ids: token, n, then n ids; repeated for each token. */
    private List<Object> acknowledged(byte[][] arguments) {
        int count = 0;
        for (int at = 1; at < arguments.length; at += count(arguments[at]) + 2) {
            count += count(arguments[at]);
        }
        if (this.unacknowledged.addAndGet(-count) == 0) {
            this.done.get().countDown();
        }
        return List.of(0L);
    }

    private static int count(byte[] digits) {
        return Integer.parseInt(new String(digits, StandardCharsets.US_ASCII));
    }

    /** Answers nothing before a latch is released. */
    void hold(CountDownLatch latch) {
        this.client.execute(() -> {
            try {
                latch.await();
            }
            catch (InterruptedException ex) {
                Thread.currentThread().interrupt();
            }
        });
    }

    /** Returns how many calls of the script of sends were answered. */
    int sends() {
        return this.sends.get();
    }

    /** Has messages due, and waits until they are acknowledged. */
    void handle(int messages) throws InterruptedException {
        CountDownLatch latch = new CountDownLatch(1);
        this.done.set(latch);
        this.unacknowledged.set(messages);
        this.available.set(messages);
        Listener waiting = this.listener;
        if (waiting != null) {
            this.client.execute(() -> waiting.onWakeUp(WakeUpSignal.POLL_NOW));
        }
        latch.await();
    }

    @Override
    public Subscription listen(Partition partition, Listener listener) {
        this.listener = listener;
        return () -> this.listener = null;
    }

    @Override
    public boolean announcesPrimaryPollers() {
        return true;
    }

    @Override
    public void close() {
        this.client.shutdown();
    }

}

package io.delayqueue.benchmarks.redisson;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import io.delayqueue.benchmarks.contender.Contender;
import io.delayqueue.benchmarks.contender.Setup;
import io.delayqueue.benchmarks.contender.Work;
import org.jspecify.annotations.Nullable;
import org.redisson.Redisson;
import org.redisson.api.RBlockingQueue;
import org.redisson.api.RDelayedQueue;
import org.redisson.api.RedissonClient;
import org.redisson.codec.TypedJsonJacksonCodec;
import org.redisson.config.Config;
import org.redisson.config.ConstantDelay;
import org.redisson.config.SingleServerConfig;

/**
 * A delayed queue and as many threads that take from the queue behind it as there are
 * handlers. The codec writes the same JSON as DelayQueue does, so that both store and
 * read the same.
 * <p>
 * With the option {@code tuned} it is used as its sources suggest. Handlers take up to a
 * hundred messages by {@code poll(n)}, and wait for one only if there is none. Threads
 * and connections are as few as two cores need. The tick of the timer, which otherwise is
 * random in each JVM between 10 and 49 ms, is the shortest.
 */
@SuppressWarnings("deprecation") // RDelayedQueue is, in favour of another edition
final class RedissonContender implements Contender {

    private static final int DEFAULT_HANDLERS = 16;

    /** Messages that one call takes, if tuned. */
    private static final int BATCH = 100;

    /**
     * Calls of a bulk send that wait for answers: with more, its time limit of three
     * seconds is over.
     */
    private static final int MOST_PENDING = 10_000;

    /**
     * The tick is half of the milliseconds beyond a full tenth of a second, and at least
     * 10 ms (ServiceManager.initTimer).
     */
    private static final Duration SHORTEST_TICK = Duration.ofMillis(1501);

    private final Map<String, RDelayedQueue<Work>> delayed = new LinkedHashMap<>();

    private final List<RBlockingQueue<Work>> blocking = new ArrayList<>();

    private final List<Thread> threads = new ArrayList<>();

    private int handlers = DEFAULT_HANDLERS;

    private @Nullable Consumer<Work> handler;

    private @Nullable RedissonClient client;

    private boolean tuned;

    private volatile boolean stopped;

    @Override
    public void open(Setup setup, Consumer<Work> handler) {
        this.handler = handler;
        this.handlers = (setup.handlers() > 0) ? setup.handlers() : DEFAULT_HANDLERS;
        Config config = new Config();
        config.setCodec(new TypedJsonJacksonCodec(Work.class));
        int takers = this.handlers * setup.queues().size();
        SingleServerConfig server = config.useSingleServer().setAddress("redis://127.0.0.1:" + setup.port());
        server.setConnectionPoolSize(Math.max(64, takers + 16));
        this.tuned = setup.options().containsKey("tuned");
        if (this.tuned) {
            config.setThreads(Integer.parseInt(setup.options().getOrDefault("threads", "4")));
            config.setNettyThreads(Integer.parseInt(setup.options().getOrDefault("nettyThreads", "2")));
            server.setRetryDelay(new ConstantDelay(SHORTEST_TICK));
            server.setConnectionPoolSize(takers + Integer.parseInt(setup.options().getOrDefault("connections", "16")));
            server.setConnectionMinimumIdleSize(1);
        }
        this.client = Redisson.create(config);
        for (String queue : setup.queues()) {
            RBlockingQueue<Work> target = this.client.getBlockingQueue(queue);
            this.blocking.add(target);
            this.delayed.put(queue, this.client.getDelayedQueue(target));
        }
    }

    @Override
    public void send(String queue, Work work, Duration delay) {
        delayed(queue).offer(work, delay.toMillis(), TimeUnit.MILLISECONDS);
    }

    @Override
    public void sendAll(String queue, List<Work> works) {
        RDelayedQueue<Work> target = delayed(queue);
        List<CompletableFuture<Void>> answers = new ArrayList<>(MOST_PENDING);
        for (Work work : works) {
            if (answers.size() == MOST_PENDING) {
                CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new)).join();
                answers.clear();
            }
            long delay = Math.max(0, work.dueMicros() / 1000 - System.currentTimeMillis());
            answers.add(target.offerAsync(work, delay, TimeUnit.MILLISECONDS).toCompletableFuture());
        }
        CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new)).join();
    }

    @Override
    public void startHandlers() {
        this.stopped = false;
        for (RBlockingQueue<Work> queue : this.blocking) {
            for (int i = 0; i < this.handlers; i++) {
                Thread thread = new Thread(() -> take(queue), "taker-" + i);
                this.threads.add(thread);
                thread.start();
            }
        }
    }

    private void take(RBlockingQueue<Work> queue) {
        Consumer<Work> consumer = this.handler;
        while (!this.stopped && consumer != null) {
            try {
                List<Work> due = this.tuned ? queue.poll(BATCH) : List.of();
                due.forEach(consumer);
                if (due.isEmpty()) {
                    consumer.accept(queue.take());
                }
            }
            catch (InterruptedException ex) {
                return;
            }
            catch (RuntimeException ex) {
                if (!this.stopped) {
                    throw ex;
                }
            }
        }
    }

    @Override
    public void stopHandlers() {
        this.stopped = true;
        this.threads.forEach(Thread::interrupt);
        for (Thread thread : this.threads) {
            try {
                thread.join();
            }
            catch (InterruptedException ex) {
                Thread.currentThread().interrupt();
            }
        }
        this.threads.clear();
    }

    /** There are no acknowledgements. */
    @Override
    public boolean isSettled() {
        return true;
    }

    @Override
    public void close() {
        stopHandlers();
        this.delayed.values().forEach(RDelayedQueue::destroy);
        if (this.client != null) {
            this.client.shutdown();
        }
    }

    private RDelayedQueue<Work> delayed(String queue) {
        RDelayedQueue<Work> found = this.delayed.get(queue);
        if (found == null) {
            throw new IllegalArgumentException(queue);
        }
        return found;
    }

}

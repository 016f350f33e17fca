package io.delayqueue.benchmarks.limit;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;

import io.delayqueue.benchmarks.contender.Contender;
import io.delayqueue.benchmarks.contender.Setup;
import io.delayqueue.benchmarks.contender.Work;
import io.lettuce.core.LettuceFutures;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ZAddArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import org.jspecify.annotations.Nullable;

/**
 * Implements a delay queue without guarantees: HSET and ZADD for a message, and a script
 * that takes and deletes a hundred. The ids are as long as generated ones.
 */
final class LimitContender implements Contender {

    private static final Duration WAIT_LIMIT = Duration.ofMinutes(1);

    /** Messages on their way to Redis at a time in bulk. */
    private static final int WINDOW = 500;

    private final List<Thread> threads = new ArrayList<>();

    private final List<ClaimLoop> loops = new ArrayList<>();

    private @Nullable Setup setup;

    private @Nullable Consumer<Work> handler;

    private @Nullable RedisClient client;

    private @Nullable StatefulRedisConnection<String, String> shared;

    private @Nullable StatefulRedisConnection<String, String> bulk;

    @Override
    public void open(Setup setup, Consumer<Work> handler) {
        this.setup = setup;
        this.handler = handler;
        this.client = RedisClient.create(RedisURI.create("127.0.0.1", setup.port()));
        this.shared = this.client.connect();
        this.bulk = this.client.connect();
        this.bulk.setAutoFlushCommands(false);
    }

    @Override
    public void send(String queue, Work work, Duration delay) {
        String id = id(work);
        RedisAsyncCommands<String, String> commands = opened(this.shared).async();
        long due = (work.dueMicros() + 999) / 1000;
        await(List.of(commands.hset(messages(queue), id, work.toJson()),
                commands.zadd(scheduled(queue), (double) due, id)));
    }

    @Override
    public void sendAll(String queue, List<Work> works) {
        StatefulRedisConnection<String, String> connection = opened(this.bulk);
        RedisAsyncCommands<String, String> commands = connection.async();
        List<RedisFuture<?>> answers = new ArrayList<>(2 * WINDOW);
        for (Work work : works) {
            String id = id(work);
            answers.add(commands.hset(messages(queue), id, work.toJson()));
            answers.add(commands.zadd(scheduled(queue), (double) ((work.dueMicros() + 999) / 1000), id));
            if (answers.size() == 2 * WINDOW) {
                connection.flushCommands();
                await(answers);
                answers.clear();
            }
        }
        connection.flushCommands();
        await(answers);
    }

    @Override
    public void startHandlers() {
        for (String queue : opened(this.setup).queues()) {
            ClaimLoop loop = new ClaimLoop(opened(this.client).connect().sync(),
                    new String[] { messages(queue), scheduled(queue) }, opened(this.handler));
            Thread thread = new Thread(loop, "claim-" + queue);
            this.loops.add(loop);
            this.threads.add(thread);
            thread.start();
        }
    }

    @Override
    public void stopHandlers() {
        this.loops.forEach(ClaimLoop::stop);
        for (Thread thread : this.threads) {
            try {
                thread.join();
            }
            catch (InterruptedException ex) {
                Thread.currentThread().interrupt();
            }
        }
        this.loops.clear();
        this.threads.clear();
    }

    @Override
    public boolean isSettled() {
        return true;
    }

    @Override
    public boolean cancel(String queue, long number) {
        RedisAsyncCommands<String, String> commands = opened(this.shared).async();
        RedisFuture<Long> removed = commands.zrem(scheduled(queue), Setup.id(number));
        await(List.of(removed, commands.hdel(messages(queue), Setup.id(number))));
        return removed.toCompletableFuture().join() == 1;
    }

    @Override
    public boolean reschedule(String queue, long number, Duration delay) {
        double due = System.currentTimeMillis() + delay.toMillis();
        RedisFuture<Long> changed = opened(this.shared).async()
            .zadd(scheduled(queue), ZAddArgs.Builder.xx().ch(), due, Setup.id(number));
        await(List.of(changed));
        return changed.toCompletableFuture().join() == 1;
    }

    @Override
    public boolean find(String queue, long number) {
        RedisAsyncCommands<String, String> commands = opened(this.shared).async();
        RedisFuture<String> body = commands.hget(messages(queue), Setup.id(number));
        await(List.of(body, commands.zscore(scheduled(queue), Setup.id(number))));
        return body.toCompletableFuture().join() != null;
    }

    @Override
    public void close() {
        stopHandlers();
        opened(this.client).shutdown();
    }

    private String id(Work work) {
        if (opened(this.setup).idsOfNumbers()) {
            return Setup.id((work.number() < 0) ? -1 - work.number() : work.number());
        }
        byte[] bits = new byte[12];
        ThreadLocalRandom.current().nextBytes(bits);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bits);
    }

    private static void await(List<RedisFuture<?>> answers) {
        if (!LettuceFutures.awaitAll(WAIT_LIMIT, answers.toArray(RedisFuture[]::new))) {
            throw new IllegalStateException("Redis did not answer within " + WAIT_LIMIT);
        }
    }

    private static String messages(String queue) {
        return "limit:{" + queue + "}:messages";
    }

    private static String scheduled(String queue) {
        return "limit:{" + queue + "}:scheduled";
    }

    /** What {@link #open} made. */
    private static <T> T opened(@Nullable T part) {
        if (part == null) {
            throw new IllegalStateException("Not open");
        }
        return part;
    }

}

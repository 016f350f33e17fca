package io.delayqueue.benchmarks.limit;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Base64;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;

import io.delayqueue.benchmarks.contender.Contender;
import io.delayqueue.benchmarks.contender.Setup;
import io.delayqueue.benchmarks.contender.Work;
import io.lettuce.core.LettuceFutures;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.ZAddArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import org.jspecify.annotations.Nullable;

/**
 * Implements a delay queue without guarantees, by one script for each message, or for
 * each hundred: HSET and ZADD, then a script that takes and deletes. With the option
 * {@code leased}, what is taken is leased and acknowledged, which is the least that a
 * queue can do that redelivers. The ids are as long as generated ones.
 */
class LimitContender implements Contender {

    private static final Duration WAIT_LIMIT = Duration.ofMinutes(1);

    /** Calls on their way to Redis at a time in bulk. */
    private static final int WINDOW = 8;

    private final List<ClaimLoop> loops = new CopyOnWriteArrayList<>();

    private @Nullable Setup setup;

    private @Nullable Consumer<Work> handler;

    private @Nullable RedisClient client;

    private @Nullable StatefulRedisConnection<String, String> shared;

    private String send = "";

    private String sendAll = "";

    @Override
    public void open(Setup setup, Consumer<Work> handler) {
        this.setup = setup;
        this.handler = handler;
        this.client = RedisClient.create(RedisURI.create("127.0.0.1", setup.port()));
        this.shared = this.client.connect();
        this.send = this.shared.sync().scriptLoad(LimitScripts.SEND);
        this.sendAll = this.shared.sync().scriptLoad(LimitScripts.SEND_ALL);
    }

    @Override
    public void send(String queue, Work work, Duration delay) {
        RedisAsyncCommands<String, String> commands = opened(this.shared).async();
        await(List.of(commands.evalsha(this.send, ScriptOutputType.STATUS, keys(queue), id(work), work.toJson(),
                Long.toString(due(work)))));
        sent(due(work));
    }

    /** Returns the digest of the script that sends one message. */
    String digest() {
        return this.send;
    }

    /** Lets the loops of this process know when a message that is stored is due. */
    void sent(long due) {
        this.loops.forEach((loop) -> loop.wakeAt(due));
    }

    static long due(Work work) {
        return (work.dueMicros() + 999) / 1000;
    }

    @Override
    public void sendAll(String queue, List<Work> works) {
        RedisAsyncCommands<String, String> commands = opened(this.shared).async();
        Deque<RedisFuture<?>> answers = new ArrayDeque<>();
        long earliest = Long.MAX_VALUE;
        for (int from = 0; from < works.size(); from += LimitScripts.BATCH) {
            List<Work> batch = works.subList(from, Math.min(from + LimitScripts.BATCH, works.size()));
            String[] arguments = new String[1 + 4 * batch.size()];
            arguments[0] = Integer.toString(batch.size());
            int body = 1;
            int score = 1 + 2 * batch.size();
            for (Work work : batch) {
                String id = id(work);
                arguments[body++] = id;
                arguments[body++] = work.toJson();
                arguments[score++] = Long.toString(due(work));
                arguments[score++] = id;
                earliest = Math.min(earliest, due(work));
            }
            if (answers.size() == WINDOW) {
                await(List.of(answers.remove()));
            }
            answers.add(commands.evalsha(this.sendAll, ScriptOutputType.STATUS, keys(queue), arguments));
        }
        await(List.copyOf(answers));
        sent(earliest);
    }

    @Override
    public void startHandlers() {
        Setup setup = opened(this.setup);
        for (String queue : setup.queues()) {
            ClaimLoop loop = new ClaimLoop(opened(this.client).connect(),
                    new String[] { messages(queue), scheduled(queue), "limit:{" + queue + "}:leased" },
                    setup.options().containsKey("leased"), opened(this.handler));
            this.loops.add(loop);
            loop.start();
        }
    }

    @Override
    public void stopHandlers() {
        for (ClaimLoop loop : this.loops) {
            try {
                loop.stop();
            }
            catch (InterruptedException ex) {
                Thread.currentThread().interrupt();
            }
        }
        this.loops.clear();
    }

    @Override
    public boolean isSettled() {
        return this.loops.stream().allMatch(ClaimLoop::isSettled);
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

    String id(Work work) {
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

    static String[] keys(String queue) {
        return new String[] { messages(queue), scheduled(queue) };
    }

    private static String messages(String queue) {
        return "limit:{" + queue + "}:messages";
    }

    private static String scheduled(String queue) {
        return "limit:{" + queue + "}:scheduled";
    }

}

package io.delayqueue.shop.crash;

import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.redis.TcpProxy;
import io.delayqueue.shop.EachDatabase;
import io.delayqueue.shop.ShopDatabase;
import io.lettuce.core.Range;
import io.lettuce.core.TransactionResult;
import io.lettuce.core.api.sync.RedisCommands;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.simple.JdbcClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Lets Redis lose data under a steady load of sends: all of it, or the last seconds, as
 * with a replica that lags. Nobody intervenes. Prints how long the restore took.
 */
@Tag("server")
@Tag("matrix")
@Timeout(value = 1, unit = TimeUnit.HOURS)
class LedgerLossTests {

    /** Messages sent per second. */
    private static final int RATE = Integer.getInteger("dq.journal.rate", 100);

    private static final int SECONDS = Integer.getInteger("dq.journal.seconds", 12);

    /** By how many seconds of sends a replica lags. */
    private static final int LAG = 5;

    private static final Duration LATER = Duration.ofHours(1);

    private static final Duration PATIENCE = LedgerProcesses.PATIENCE;

    private static final String STEM = "dq:{" + LedgerLoad.QUEUE + "}:";

    @TempDir
    private Path directory;

    /**
     * P1, P6: all messages are handled, none that was rolled back or cancelled, and only
     * those twice that a handler had, or whose end was not yet in the database.
     */
    @EachDatabase
    void noMessageIsLostWhenRedisIsFlushedUnderLoad(ShopDatabase database) throws Exception {
        try (RedisServer redis = RedisServer.start(RedisBinary.preferred());
                ConfigurableApplicationContext context = start(database, redis.port())) {
            LedgerLoad load = context.getBean(LedgerLoad.class);
            CountDownLatch sent = startWithBacklog(load, redis);

            awaitSent(load, RATE * SECONDS / 2);
            RedisCommands<String, String> commands = redis.commands();
            commands.multi();
            commands.zrange(STEM + "leased", 0, -1);
            commands.zrangebyscore(STEM + "changes", Range.create(0, Double.MAX_VALUE));
            commands.flushall();
            TransactionResult before = commands.exec();
            long flushed = System.nanoTime();
            Set<String> unrecorded = new HashSet<>(before.<List<String>>get(0));
            before.<List<String>>get(1).forEach((entry) -> unrecorded.add(idOf(entry)));
            await().atMost(PATIENCE)
                .pollInterval(Duration.ofMillis(20))
                .until(() -> waiting(redis, LATER) == RATE * SECONDS);
            Duration restored = Duration.ofNanos(System.nanoTime() - flushed);

            assertAllHandled(context, redis, sent, RATE * SECONDS);
            report("flush", database, load, restored, unrecorded);
        }
    }

    /**
     * P1, P6: all messages are handled, none that was rolled back or cancelled, and only
     * those twice that a handler had, that the replica holds though they have ended, or
     * whose end was not yet in the database.
     */
    @EachDatabase
    void noMessageIsLostWhenAReplicaThatLagsIsPromoted(ShopDatabase database) throws Exception {
        try (RedisServer master = RedisServer.start(RedisBinary.preferred());
                TcpProxy replication = TcpProxy.to(master);
                RedisServer replica = RedisServer.start(RedisBinary.preferred(),
                        "replicaof 127.0.0.1 " + replication.port());
                TcpProxy front = TcpProxy.to(master);
                ConfigurableApplicationContext context = start(database, front.port())) {
            LedgerLoad load = context.getBean(LedgerLoad.class);
            CountDownLatch sent = startWithBacklog(load, master);
            awaitSent(load, RATE * SECONDS / 3);
            await().atMost(PATIENCE).until(() -> waiting(replica, LATER) == RATE * SECONDS);

            replication.blackhole();
            load.sendBacklog(RATE, LATER.multipliedBy(2));
            await().atMost(PATIENCE).until(() -> waiting(master, LATER.multipliedBy(2)) == RATE);
            awaitSent(load, load.sent() + RATE * LAG);
            front.refuse();
            Set<String> unrecorded = unrecorded(master, replica);
            master.kill();
            replica.commands().replicaofNoOne();
            long promoted = System.nanoTime();
            assertThat(waiting(replica, LATER.multipliedBy(2))).as("messages that the replica has not").isZero();
            try (TcpProxy moved = TcpProxy.between(front.port(), replica.port())) {
                await().atMost(PATIENCE)
                    .pollInterval(Duration.ofMillis(20))
                    .until(() -> waiting(replica, LATER.multipliedBy(2)) == RATE);
                Duration restored = Duration.ofNanos(System.nanoTime() - promoted);

                assertAllHandled(context, replica, sent, RATE * SECONDS + RATE);
                report("replica", database, load, restored, unrecorded);
                context.close();
                assertThat(moved.isLossPending()).isFalse();
            }
        }
    }

    /**
     * Returns the ids of messages that a handler had, that only the replica holds yet, or
     * whose end the master has and the database has not.
     */
    private static Set<String> unrecorded(RedisServer master, RedisServer replica) {
        Set<String> ids = new HashSet<>(master.commands().zrange(STEM + "leased", 0, -1));
        master.commands()
            .zrangebyscore(STEM + "changes", Range.create(0, Double.MAX_VALUE))
            .forEach((entry) -> ids.add(idOf(entry)));
        ids.addAll(replica.commands().hkeys(STEM + "messages"));
        return ids;
    }

    /** Returns the id of an entry of changes that is an end. */
    private static String idOf(String entry) {
        return entry.substring(entry.indexOf(' ') + 1);
    }

    private ConfigurableApplicationContext start(ShopDatabase database, int redisPort) {
        return new LedgerProcesses(LedgerLoad.class, database, redisPort, this.directory)
            .start("delayqueue.journal.jdbc.initialize-schema=always");
    }

    /** Starts to send, once messages that are due later are in Redis. */
    private static CountDownLatch startWithBacklog(LedgerLoad load, RedisServer redis) {
        load.sendBacklog(RATE * SECONDS, LATER);
        await().atMost(PATIENCE).until(() -> waiting(redis, LATER) == RATE * SECONDS);
        return load.send(RATE, RATE * SECONDS);
    }

    private static void awaitSent(LedgerLoad load, int messages) {
        int all = Math.min(messages, RATE * SECONDS);
        await().atMost(PATIENCE).pollInterval(Duration.ofMillis(20)).until(() -> load.sent() >= all);
    }

    private void assertAllHandled(ConfigurableApplicationContext context, RedisServer redis, CountDownLatch sent,
            long later) throws InterruptedException {
        LedgerLoad load = context.getBean(LedgerLoad.class);
        JdbcClient jdbc = context.getBean(JdbcClient.class);
        assertThat(sent.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        load.stop();
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(load.missing()).isEmpty());
        await().atMost(PATIENCE)
            .untilAsserted(() -> assertThat(jdbc.sql("""
                    SELECT COUNT(*) FROM delayqueue_journal WHERE operation <> 'C' OR accepted = FALSE""")
                .query(Long.class)
                .single()).isEqualTo(later));
        await().atMost(PATIENCE)
            .untilAsserted(() -> assertThat(redis.commands().hlen(STEM + "messages")).isEqualTo(later));
        assertThat(waiting(redis, LedgerLoad.CANCELLED)).as("cancelled messages that would be handled").isZero();
        assertThat(load.unwanted).as("handled, though rolled back or cancelled").hasValue(0);
    }

    private static void report(String loss, ShopDatabase database, LedgerLoad load, Duration restored,
            Set<String> unrecorded) {
        System.out
            .printf("LedgerLossTests: %s, %s, %d messages/s, %d sent, 0 lost, %d rolled back and %d cancelled of which 0 "
                    + "handled, %d extra handlings of %d messages of at most %d; backlog of %d restored after %d ms%n",
                    loss, database, RATE, load.sent(), load.rolledBack(), load.cancelled(), load.extra(),
                    load.repeated().size(), unrecorded.size(), loss.equals("flush") ? RATE * SECONDS : RATE,
                    restored.toMillis());
        assertThat(unrecorded).containsAll(load.repeated());
        assertThat(load.extra()).as("handled more than twice").isEqualTo(load.repeated().size());
    }

    /** Counts the messages of which at least half of a delay is left. */
    private static long waiting(RedisServer redis, Duration delay) {
        long now = Long.parseLong(redis.commands().time().get(0)) * 1000;
        Duration least = delay.minus(LATER.dividedBy(2));
        Duration most = delay.plus(LATER.dividedBy(2));
        return redis.commands().zcount(STEM + "scheduled", Range.create(now + least.toMillis(), now + most.toMillis()));
    }

}

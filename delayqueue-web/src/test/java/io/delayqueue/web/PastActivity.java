package io.delayqueue.web;

import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;

import io.delayqueue.admin.QueueActivity;
import io.delayqueue.admin.QueueActivity.Backlog;
import io.delayqueue.fixtures.redis.ConnectionFactories;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.store.PinnedTimeRunner;
import io.delayqueue.redis.RedisActivityStore;
import io.delayqueue.redis.RedisScriptExecutor;
import io.delayqueue.store.ActivityReport;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Records the activity of queues in the past, as nodes would have, by their scripts. */
public final class PastActivity implements AutoCloseable {

    /** Class of lateness up to 20 ms, up to 5 s, and up to 30 s. */
    public static final int EARLY = 0;

    public static final int LATE = 7;

    public static final int VERY_LATE = 9;

    private static final Duration MINUTE = Duration.ofMinutes(1);

    private final RedisServer server;

    private final LettuceConnectionFactory connections;

    private final AtomicReference<Instant> time;

    private final RedisScriptExecutor redis;

    private final RedisActivityStore store;

    private final Instant end;

    private int number;

    public PastActivity(RedisServer server, String namespace) {
        this.connections = ConnectionFactories.lettuce(server);
        this.server = server;
        this.end = now();
        this.time = new AtomicReference<>(this.end);
        this.redis = new RedisScriptExecutor(
                new PinnedTimeRunner(RedisScriptExecutor.runner(this.connections, Duration.ofSeconds(30)),
                        () -> this.time.get().toEpochMilli() * 1_000),
                namespace);
        this.store = new RedisActivityStore(this.redis);
    }

    private Instant now() {
        return Instant.ofEpochSecond(Long.parseLong(this.server.commands().time().get(0)));
    }

    /** Returns the time that is this number of minutes ago. */
    public Instant at(int age) {
        return this.end.minus(MINUTE.multipliedBy(age));
    }

    /**
     * Records a report of the past. Ages must not increase from call to call.
     * @param unanswered how long the node had no answer before
     */
    public void report(int age, Duration unanswered, Map<String, long[]> counts) {
        this.time.set(at(age));
        this.number++;
        this.store.report(new ActivityReport("past", this.number, unanswered, counts)).join();
    }

    /** Records a report of the current minute. */
    public void reportNow(Map<String, long[]> counts) {
        this.time.set(now());
        this.number++;
        this.store.report(new ActivityReport("past", this.number, Duration.ZERO, counts)).join();
    }

    /** Records what queues held. */
    public void backlog(int age, Map<String, Backlog> backlogs) {
        this.time.set(at(age));
        this.store.record(at(age), backlogs, true).join();
    }

    /** Returns counts of a minute. */
    public static long[] counts(long early, long late, long failed) {
        long[] counts = new long[ActivityReport.FIELDS];
        counts[EARLY] = early;
        counts[LATE] = late;
        counts[ActivityReport.FAILED] = failed;
        return counts;
    }

    /**
     * Records three hours of a shop: an outage of Redis two hours ago, after which
     * messages are late, a deployment an hour ago, when no node ran, and four minutes of
     * which no messages were counted.
     */
    public void ofAShop(String... queues) {
        for (int age = QueueActivity.MINUTES - 1; age > 0; age--) {
            boolean away = age > 118 && age <= 125;
            boolean stopped = age > 58 && age <= 62;
            if (away || stopped) {
                continue;
            }
            long behind = (age <= 118 && age > 105) ? (age - 105) * 40L : 0;
            Map<String, long[]> counts = new LinkedHashMap<>();
            Map<String, Backlog> backlogs = new LinkedHashMap<>();
            for (int i = 0; i < queues.length; i++) {
                long wave = Math.round(40 + 25 * Math.sin(age / 14.0 + i) + (age * 7 + i * 13) % 9) / (i + 1);
                counts.put(queues[i],
                        counts(wave + behind / 3, (behind > 0) ? behind / 4 : age % 37 / 36, age % 23 / 20));
                backlogs.put(queues[i], new Backlog(behind, wave / 6, 400 + wave + behind, 3 + (180 - age) / 23));
            }
            report(age, (age == 118) ? Duration.ofMinutes(7) : Duration.ZERO, counts);
            if (age <= 20 || age > 24) {
                backlog(age, backlogs);
            }
        }
    }

    @Override
    public void close() {
        this.redis.close();
        this.connections.destroy();
    }

}

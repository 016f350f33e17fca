package io.delayqueue.move;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;

import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** Moves entries while the tool is killed and the applications of both sides run. */
@Timeout(value = 10, unit = TimeUnit.MINUTES)
abstract class MoveTestBase {

    /** Set -Ddq.migrate.entries=1000000 and -Ddq.migrate.kills=10 for the long run. */
    static final long ENTRIES = Long.getLong("dq.migrate.entries", 4_000);

    /** How many entries are copied without kills. */
    static final int COPIED = Integer.getInteger("dq.migrate.copied", 2_000);

    static final int KILLS = Integer.getInteger("dq.migrate.kills", 2);

    /** Redisson scans its list for each entry that is due, so it cannot do more. */
    private static final long PER_SECOND = (ENTRIES > 100_000) ? 5 : 20;

    /** The long run moves batches of the usual size; short ones would be few of these. */
    private static final String BATCH = "--batch=" + Math.max(100, Math.min(ENTRIES / 100, 500));

    static final long HOUR = 3_600_000;

    private static final String OLD = "handled-by-old";

    @TempDir
    private Path directory;

    private RedisServer redis;

    private Scene scene;

    @BeforeEach
    void startRedis() {
        this.redis = RedisServer.start(RedisBinary.preferred());
        startScene();
    }

    /** Prepares the tool; once more if its arguments have changed. */
    final void startScene() {
        List<String> all = new ArrayList<>(List.of("--source=" + source()));
        all.addAll(sourceArguments());
        this.scene = new Scene(this.redis, this.directory, all.toArray());
    }

    @AfterEach
    void stopRedis() {
        this.redis.close();
    }

    /** Returns the name of the source. */
    abstract String source();

    /** Returns further arguments for the tool. */
    List<String> sourceArguments() {
        return List.of("--source-url=redis://127.0.0.1:" + this.redis.port());
    }

    /** Returns the due times in the source, by the numbers of the orders. */
    abstract Map<String, Long> dueInSource();

    /** Returns how often each order was handled by the old application. */
    Map<String, Integer> handledByOld() {
        Map<String, Integer> handled = new HashMap<>();
        this.redis.commands().hgetall(OLD).forEach((number, times) -> handled.put(number, Integer.valueOf(times)));
        return handled;
    }

    /** Returns a count of the migration. */
    long count(String name) {
        String count = this.redis.commands().hget("delayqueue_migrate:%s:{orders}:counts".formatted(source()), name);
        return (count != null) ? Long.parseLong(count) : 0;
    }

    /** Starts the application of the source. */
    abstract PeerJvm peer(String version, Object... arguments);

    final RedisServer redis() {
        return this.redis;
    }

    final Scene scene() {
        return this.scene;
    }

    /**
     * Sends entries by the application of the source. Each range is the first number, how
     * many, the shortest delay and how much longer others may be, in milliseconds.
     */
    final void send(String version, long... ranges) {
        List<Object> arguments = new ArrayList<>(List.of("send"));
        LongStream.of(ranges).forEach(arguments::add);
        try (PeerJvm peer = peer(version, arguments.toArray())) {
            peer.await("SENT ");
            assertThat(peer.exit()).isZero();
        }
    }

    /** Moves messages that are due soon and late ones, and accounts for each. */
    final void moveUnderFire(String version) {
        long soon = Math.min(ENTRIES / 20, 5_000);
        long start = System.nanoTime();
        send(version, 0, soon, 5_000, 15_000, soon, ENTRIES - soon, HOUR, HOUR);
        Map<String, Long> due = dueInSource();
        String sending = elapsed(start);
        Map<String, Integer> handled = new ConcurrentHashMap<>();
        long produced;
        String moving;
        try (NewConsumer consumer = NewConsumer.start(this.redis,
                (order) -> handled.merge(Long.toString(order.number()), 1, Integer::sum));
                PeerJvm oldConsumer = peer(version, "consume", OLD);
                PeerJvm oldProducer = peer(version, "produce", ENTRIES, PER_SECOND, 3_000)) {
            oldConsumer.await("READY");
            oldProducer.await("READY");
            within(() -> !handledByOld().isEmpty());
            start = System.nanoTime();
            followWithKills();
            try (PeerJvm tool = this.scene.start("follow", "--until-idle=4s")) {
                within(() -> !handled.isEmpty() || !tool.isAlive());
                oldProducer.stop();
                assertThat(tool.exit()).as(tool::text).isZero();
            }
            moving = elapsed(start);
            produced = Long.parseLong(oldProducer.await("SENT ").substring("SENT ".length()));
            awaitSoonOnes(soon, produced, handled);
            oldConsumer.stop();
        }
        System.out.println(this.scene.run("verify"));
        assertAccounts(due, soon, produced, handled);
        System.out.printf("%s: sent by the old application in %s, moved in %s%n", version, sending, moving);
    }

    private static String elapsed(long start) {
        Duration time = Duration.ofNanos(System.nanoTime() - start);
        return "%d:%02d".formatted(time.toMinutes(), time.toSecondsPart());
    }

    private void followWithKills() {
        for (int kill = 1; kill <= KILLS; kill++) {
            long goal = kill * ENTRIES / (KILLS + 1);
            try (PeerJvm tool = this.scene.start("follow", BATCH)) {
                within(() -> count("taken") >= goal || !tool.isAlive());
                assertThat(tool.isAlive()).as(tool::text).isTrue();
            }
        }
    }

    private static void within(Callable<Boolean> condition) {
        Awaitility.await()
            .pollInterval(20, TimeUnit.MILLISECONDS)
            .atMost(PeerJvm.LIMIT_MINUTES, TimeUnit.MINUTES)
            .until(condition);
    }

    private void awaitSoonOnes(long soon, long produced, Map<String, Integer> handled) {
        Awaitility.await().atMost(10, TimeUnit.MINUTES).pollInterval(500, TimeUnit.MILLISECONDS).until(() -> {
            Map<String, Integer> old = handledByOld();
            return LongStream.concat(LongStream.range(0, soon), LongStream.range(ENTRIES, ENTRIES + produced))
                .mapToObj(Long::toString)
                .allMatch((number) -> handled.containsKey(number) || old.containsKey(number));
        });
    }

    private void assertAccounts(Map<String, Long> due, long soon, long produced, Map<String, Integer> handled) {
        Map<String, Integer> old = handledByOld();
        Map<String, Long> waiting = this.scene.dueInTarget();
        assertThat(old.keySet().stream().filter(handled::containsKey)).as("handled by old and new").isEmpty();
        assertThat(old.values()).containsOnly(1);
        for (long number = soon; number < ENTRIES; number++) {
            String name = Long.toString(number);
            assertThat(waiting.get(name)).as("due time of " + name).isEqualTo(due.get(name));
        }
        assertThat(waiting).hasSize((int) (ENTRIES - soon));
        long repeated = handled.values().stream().mapToInt((times) -> times - 1).sum();
        System.out.printf(
                "%s: %,d entries, %,d produced meanwhile, %d kills: %,d handled by old, %,d by new, of these "
                        + "%,d twice; counted as repeated: %,d%n",
                getClass().getSimpleName(), ENTRIES, produced, KILLS, old.size(), handled.size(), repeated,
                count("repeated"));
        assertThat(repeated).isLessThanOrEqualTo(count("repeated"));
        assertThat(old).isNotEmpty();
        assertThat(handled).isNotEmpty();
    }

    /**
     * Returns whether a version is tested: a few by default, all with
     * {@code -Ddq.migrate.peers=all}, one with its name.
     */
    static boolean isTested(String version, boolean byDefault) {
        String peers = System.getProperty("dq.migrate.peers");
        return (peers != null) ? List.of("all", version).contains(peers) : byDefault;
    }

}

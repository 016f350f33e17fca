package io.delayqueue.shop;

import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.delayqueue.DelayedListener;
import io.delayqueue.MisfirePolicy;
import io.delayqueue.OverlapPolicy;
import io.delayqueue.ScheduleDefinition;
import io.delayqueue.ScheduleOperations;
import io.delayqueue.ScheduleSkip;
import io.delayqueue.ScheduleStatus;
import io.delayqueue.ScheduledOccurrence;
import io.delayqueue.SkipReason;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.redis.TcpProxy;
import io.delayqueue.listener.DelayedListenerRegistry;
import io.delayqueue.listener.ListenerContainer;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests the schedules of a ledger: an occurrence has a row before it is sent, so that it
 * is neither lost nor sent twice, whatever fails in between.
 */
@Tag("server")
class LedgerScheduleTests {

    private static final String TICKS = "ticks";

    private static final String TICK = "tick";

    private static final Duration RATE = Duration.ofMillis(200);

    private static final String INSERT = "INSERT INTO delayqueue_journal (";

    private static final String MESSAGES = "dq:{ticks}:messages";

    private static RedisServer redis;

    private ShopApplication shop;

    @BeforeAll
    static void startRedis() {
        redis = RedisServer.start(RedisBinary.preferred());
    }

    @AfterAll
    static void stopRedis() {
        redis.close();
    }

    @AfterEach
    void stop() {
        if (this.shop != null) {
            this.shop.close();
        }
        redis.commands().flushall();
    }

    private void start(String url, String... settings) {
        this.shop = ShopApplication.start(List.of(Shop.class, Ticker.class, StatementGate.class), redis.port(), url,
                settings);
    }

    private StatementGate gate() {
        return this.shop.context().getBean(StatementGate.class);
    }

    private List<Instant> handled() {
        return this.shop.context().getBean(Ticker.class).handled;
    }

    private ScheduleOperations schedules() {
        return this.shop.queue().schedules(TICKS);
    }

    private ScheduleStatus tick() {
        return schedules().find(TICK).orElseThrow();
    }

    private static ScheduleDefinition.Builder ticking() {
        return ScheduleDefinition.fixedRate(TICK, RATE);
    }

    private void pauseListeners() {
        this.shop.context().getBean(DelayedListenerRegistry.class).listeners().forEach(ListenerContainer::pause);
    }

    private void resumeListeners() {
        this.shop.context().getBean(DelayedListenerRegistry.class).listeners().forEach(ListenerContainer::resume);
    }

    private static Instant now() {
        return Instant.ofEpochSecond(Long.parseLong(redis.commands().time().get(0)));
    }

    private static ConditionFactory await() {
        return Awaitility.await().atMost(Duration.ofMinutes(1));
    }

    private long accepted() {
        return this.shop.jdbc()
            .sql("SELECT COUNT(*) FROM delayqueue_journal WHERE accepted = TRUE AND operation = 'S'")
            .query(Long.class)
            .single();
    }

    /** Waits until what was sent has a row that is accepted. */
    private void awaitAccepted() {
        await().untilAsserted(() -> assertThat(accepted()).isEqualTo(redis.commands().hlen(MESSAGES)));
    }

    /** Waits until all that was sent is handled once, and no row is left. */
    private void assertHandledOnce() {
        await().untilAsserted(() -> assertThat(handled()).hasSize((int) tick().sent()));
        await().untilAsserted(() -> assertThat(this.shop.rows()).isZero());
        assertThat(handled()).doesNotHaveDuplicates();
    }

    /** Makes the rows those of a node that died before it recorded an answer. */
    private void leaveBehind() {
        this.shop.jdbc()
            .sql("UPDATE delayqueue_journal SET accepted = FALSE, operation = 'O', claimed_by = 'dead', claimed_until = 1")
            .update();
    }

    /** Inserts the row of an occurrence, as a node that died before it fired. */
    private void leaveBehind(Instant nominalTime) {
        this.shop.jdbc()
            .sql("""
                    INSERT INTO delayqueue_journal (namespace, queue_name, message_id, operation, on_duplicate,
                      due_millis, due_relative, recorded_at, priority, envelope, accepted, checks, claimed_by,
                      claimed_until)
                    VALUES ('dq', 'ticks', :id, 'O', 'KEEP', :due, FALSE, :recorded, 4, :envelope, FALSE, 0,
                      'dead', 1)""")
            .param("recorded", now().plusSeconds(1).toEpochMilli())
            .param("id", "@tick@" + nominalTime.toEpochMilli())
            .param("due", nominalTime.toEpochMilli())
            .param("envelope", "{}".getBytes())
            .update();
    }

    /** P1: nothing is sent while the row cannot be inserted. */
    @EachDatabase
    void theRowPrecedesTheOccurrence(ShopDatabase database) {
        start(database.url());
        schedules().put(ticking().build());
        await().until(() -> !handled().isEmpty());
        gate().close(INSERT);
        try {
            await().until(() -> tick().nextAt().plusSeconds(2).isBefore(now()));
            long sent = tick().sent();
            await().until(() -> tick().nextAt().plusSeconds(4).isBefore(now()));
            assertThat(tick().sent()).isEqualTo(sent);
        }
        finally {
            gate().open();
        }
        long sent = tick().sent();
        await().until(() -> tick().sent() > sent + 10);
        schedules().pause(TICK);

        assertHandledOnce();
    }

    /** P1: a ledger restores the occurrences that waited. */
    @EachDatabase
    void anOccurrenceThatRedisHasLostIsHandledOnce(ShopDatabase database) {
        start(database.url());
        pauseListeners();
        schedules().put(ticking().build());
        await().until(() -> tick().sent() > 3);
        schedules().pause(TICK);
        int sent = (int) tick().sent();
        awaitAccepted();

        redis.commands().flushall();

        resumeListeners();
        await().untilAsserted(() -> assertThat(handled()).hasSize(sent).doesNotHaveDuplicates());
        await().untilAsserted(() -> assertThat(this.shop.rows()).isZero());
        assertThat(handled()).hasSize(sent);
    }

    /** P1: the same, if the node died and Redis was emptied right after the firing. */
    @EachDatabase
    void anOccurrenceThatRedisHasLostIsHandledThoughItsRowWasLeftBehind(ShopDatabase database) {
        start(database.url());
        pauseListeners();
        schedules().put(ticking().build());
        await().until(() -> tick().sent() > 3);
        schedules().pause(TICK);
        int sent = (int) tick().sent();
        awaitAccepted();
        this.shop.reconciler().stop();

        redis.commands().flushall();
        leaveBehind();

        await().untilAsserted(() -> assertThat(redis.commands().hlen(MESSAGES)).isEqualTo(sent));
        resumeListeners();
        this.shop.reconciler().start();
        await().untilAsserted(() -> assertThat(handled()).hasSize(sent).doesNotHaveDuplicates());
        await().untilAsserted(() -> assertThat(this.shop.rows()).isZero());
    }

    /** P8: the node died after the firing, and before it recorded the answer. */
    @EachDatabase
    void anOccurrenceThatWasSentIsNotSentAgainForARowThatWasLeftBehind(ShopDatabase database) {
        start(database.url());
        pauseListeners();
        schedules().put(ticking().build());
        await().until(() -> tick().sent() > 3);
        schedules().pause(TICK);
        awaitAccepted();

        leaveBehind();

        awaitAccepted();
        resumeListeners();
        assertHandledOnce();
    }

    /** P8: the node died before the firing; another one has fired with its own row. */
    @EachDatabase
    void aRowThatWasLeftBehindIsNotSentAfterItsOccurrenceHasPassed(ShopDatabase database) {
        start(database.url());
        schedules().put(ticking().build());
        await().until(() -> tick().sent() > 3);
        schedules().pause(TICK);
        assertHandledOnce();

        leaveBehind(tick().lastAt());
        leaveBehind(tick().lastAt().minus(RATE));

        assertHandledOnce();
    }

    /**
     * P8: the same, if the schedule was stored after its first occurrences, and one of
     * them was skipped.
     */
    @EachDatabase
    void aRowThatWasLeftBehindIsNotSentThoughItsScheduleBeganInThePast(ShopDatabase database) {
        start(database.url());
        pauseListeners();
        Duration rate = Duration.ofSeconds(10);
        schedules().putIfAbsent(ScheduleDefinition.fixedRate(TICK, rate).overlap(OverlapPolicy.SKIP).build(),
                now().minusSeconds(40));
        await().until(() -> tick().skipped().getOrDefault(SkipReason.OVERLAP, 0L) > 2);
        schedules().pause(TICK);
        Instant first = tick().skips().get(0).first();
        awaitAccepted();

        leaveBehind(first.minus(rate));
        leaveBehind(first);

        await().untilAsserted(() -> assertThat(this.shop.rows()).isOne());
        resumeListeners();
        assertHandledOnce();
        assertThat(handled()).hasSize(1);
    }

    /**
     * P8: the node died before the firing; the schedule will be fired with another row.
     */
    @EachDatabase
    void aRowThatWasLeftBehindIsNotSentBeforeItsScheduleFires(ShopDatabase database) {
        start(database.url());
        schedules().put(ScheduleDefinition.fixedRate(TICK, Duration.ofDays(30)).build());

        leaveBehind(tick().nextAt());

        await().untilAsserted(() -> assertThat(this.shop.rows()).isZero());
        assertThat(redis.commands().exists(MESSAGES)).isZero();
    }

    /** P8: what Redis decides to skip is not sent by its row. */
    @EachDatabase
    void anOccurrenceThatIsSkippedLeavesNoRow(ShopDatabase database) {
        start(database.url());
        pauseListeners();
        schedules().put(ticking().overlap(OverlapPolicy.SKIP).build());
        await().until(() -> tick().skipped().getOrDefault(SkipReason.OVERLAP, 0L) > 3);
        schedules().pause(TICK);

        await().untilAsserted(() -> assertThat(this.shop.rows()).isOne());
        assertThat(tick().sent()).isOne();
        resumeListeners();
        assertHandledOnce();
    }

    /**
     * P1: without the database nothing is fired; when it is back the misfire policy
     * decides.
     */
    @Test
    void schedulesWaitWhileTheDatabaseIsAway() {
        String url = ShopDatabase.POSTGRESQL.url();
        URI address = URI.create(url.substring("jdbc:".length()));
        try (TcpProxy proxy = TcpProxy.to(address.getPort())) {
            start(url.replace(":" + address.getPort(), ":" + proxy.port()),
                    "spring.datasource.hikari.connection-timeout=500",
                    "spring.datasource.hikari.validation-timeout=250", "delayqueue.schedules.misfire-threshold=1s");
            schedules().put(ticking().build());
            await().until(() -> handled().size() > 2);
            proxy.refuse();
            await().until(() -> tick().nextAt().plusSeconds(2).isBefore(now()));
            long sent = tick().sent();
            await().until(() -> tick().nextAt().plusSeconds(4).isBefore(now()));
            assertThat(tick().sent()).isEqualTo(sent);
            proxy.pass();

            await().until(() -> tick().sent() > sent + 3);
            schedules().pause(TICK);
            ScheduleStatus status = tick();
            assertThat(status.skipped().get(SkipReason.MISFIRE)).isGreaterThan(4);
            assertNoneIsMissing(status);
            await().ignoreExceptions().untilAsserted(() -> assertThat(this.shop.rows()).isZero());
            assertHandledOnce();
            this.shop.close();
            this.shop = null;
        }
    }

    /**
     * P1: a slow database delays occurrences, and does not prevent them: 30 rows take
     * longer than the time in which they may be sent.
     */
    @Test
    void schedulesAreFiredThoughTheDatabaseIsSlow() {
        start(ShopDatabase.POSTGRESQL.url(), "delayqueue.schedules.misfire-threshold=10m");
        gate().delay(INSERT, Duration.ofMillis(250));
        List<String> names = IntStream.range(0, 30).mapToObj((i) -> "slow-" + i).toList();
        Instant from = now().minusSeconds(60);
        for (String name : names) {
            schedules().putIfAbsent(ScheduleDefinition.fixedRate(name, Duration.ofMinutes(1)).build(), from);
        }

        await().until(() -> names.stream().allMatch((name) -> schedules().find(name).orElseThrow().sent() > 0));
        gate().open();
        names.forEach(schedules()::remove);
        await().untilAsserted(() -> assertThat(this.shop.rows()).isZero());
    }

    /** P6: a Redis that is full answers the read and rejects what fires. */
    @EachDatabase
    @Tag("matrix")
    void noRowsAreLeftWhileRedisIsFull(ShopDatabase database) {
        start(database.url());
        schedules().put(ticking().build());
        await().until(() -> !handled().isEmpty());
        pauseListeners();
        redis.commands().configSet("maxmemory", "1");
        try {
            await().until(() -> tick().nextAt().plusSeconds(3).isBefore(now()));
            await().untilAsserted(() -> assertThat(pending()).isEmpty());
        }
        finally {
            redis.commands().configSet("maxmemory", "0");
        }
        resumeListeners();
        schedules().pause(TICK);
        assertHandledOnce();
    }

    /** Returns the rows of occurrences that are not accepted. */
    private List<Long> pending() {
        return this.shop.jdbc()
            .sql("SELECT revision FROM delayqueue_journal WHERE operation = 'O'")
            .query(Long.class)
            .list();
    }

    /** P1: what was due while Redis was away is sent once, and no row is left. */
    @EachDatabase
    void schedulesContinueWhenRedisIsBack(ShopDatabase database) {
        start(database.url());
        schedules().put(ticking().misfire(MisfirePolicy.ALL).build());
        await().until(() -> handled().size() > 2);
        long sent = tick().sent();
        redis.suspend();
        try {
            // Real time: Redis' clock decides which occurrences are due.
            await().pollDelay(Duration.ofSeconds(3)).until(() -> true);
        }
        finally {
            redis.resume();
        }

        await().until(() -> tick().sent() > sent + 15);
        schedules().pause(TICK);
        assertHandledOnce();
        assertNoneIsMissing(tick());
    }

    private void assertNoneIsMissing(ScheduleStatus status) {
        Instant first = Stream.concat(handled().stream(), status.skips().stream().map(ScheduleSkip::first))
            .min(Instant::compareTo)
            .orElseThrow();
        long skipped = status.skipped().values().stream().mapToLong(Long::longValue).sum();
        assertThat(Duration.between(first, status.nextAt()).dividedBy(RATE)).isEqualTo(status.sent() + skipped);
        assertThat(new HashSet<>(handled()).size()).isLessThanOrEqualTo((int) status.sent());
    }

    /** Records the occurrences that it handles. */
    static final class Ticker {

        final List<Instant> handled = new CopyOnWriteArrayList<>();

        @DelayedListener(TICKS)
        void onTick(ScheduledOccurrence occurrence) {
            this.handled.add(occurrence.nominalTime());
        }

    }

}

package io.delayqueue.shop;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

import javax.sql.DataSource;

import io.delayqueue.DelayedListener;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.journal.JournalFactory;
import io.delayqueue.journal.RestorePlan;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.datasource.DelegatingDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Tests delays beside a database whose clock differs from that of Redis. */
@Tag("server")
class JournalClockTests {

    private static final String QUEUE = "timed";

    private static final String WAITING = "waiting";

    private static final Duration DELAY = Duration.ofMillis(1500);

    private static RedisServer redis;

    @BeforeAll
    static void startRedis() {
        redis = RedisServer.start(RedisBinary.preferred());
    }

    @AfterAll
    static void stopRedis() {
        redis.close();
    }

    static Stream<Arguments> databasesAndHours() {
        return EachDatabase.Databases.ofThisRun()
            .filter((database) -> database.get()[0] != ShopDatabase.H2)
            .flatMap((database) -> Stream.of(-1, 1).map((hours) -> Arguments.of(database.get()[0], hours)));
    }

    /** P2: no message is early, and none late by the difference of the clocks. */
    @ParameterizedTest
    @MethodSource("databasesAndHours")
    void aDelayIsKeptThoughTheClockOfTheDatabaseDiffers(ShopDatabase database, int hours) {
        try (ShopApplication shop = ShopApplication.start(List.of(Shop.class, ShiftedClock.class, TimedListener.class),
                redis.port(), database.url(), "clock.hours=" + hours)) {
            Map<String, Long> handled = shop.context().getBean(TimedListener.class).handled;
            long deferred = System.nanoTime();
            shop.transaction().executeWithoutResult((status) -> shop.queue().send(QUEUE, "1", "deferred", DELAY));
            long direct = System.nanoTime();
            shop.queue().send(QUEUE, "2", "direct", DELAY);

            await().untilAsserted(() -> assertThat(handled).hasSize(2));

            assertThat(Duration.ofNanos(handled.get("deferred") - deferred)).isGreaterThanOrEqualTo(DELAY);
            assertThat(Duration.ofNanos(handled.get("direct") - direct)).isGreaterThanOrEqualTo(DELAY);
        }
        finally {
            redis.commands().flushall();
        }
    }

    /**
     * P3: a restore begins with the messages that are due first, whatever the clock of
     * the database says.
     */
    @ParameterizedTest
    @MethodSource("databasesAndHours")
    void aRestoreBeginsWithWhatIsDueFirst(ShopDatabase database, int hours) {
        try (ShopApplication shop = ShopApplication.start(List.of(Shop.class, ShiftedClock.class), redis.port(),
                database.url(), "clock.hours=" + hours)) {
            List<String> ids = List.of("first", "second", "third");
            for (int i = 0; i < 3; i++) {
                shop.queue().send(WAITING, ids.get(i), "lost", Duration.ofMinutes(i + 1));
            }
            await().untilAsserted(() -> assertThat(shop.accepted()).isEqualTo(3));
            await().untilAsserted(() -> assertThat(ShopApplication.calls(redis, WAITING)).isGreaterThan(1));
            for (int i = 0; i < 3; i++) {
                shop.jdbc() // reverses the order of the next checks
                    .sql("UPDATE delayqueue_journal SET claimed_until = claimed_until + ? WHERE message_id = ?")
                    .params(600_000L / (i + 1), ids.get(i))
                    .update();
                ShopApplication.lose(redis, WAITING, ids.get(i));
            }

            List<List<String>> restored = new ArrayList<>();
            String cursor = null;
            for (int i = 0; i < 3; i++) {
                cursor = shop.journal().restore(RestorePlan.all().queue(WAITING).rate(1), cursor).nextCursor();
                restored.add(ids.stream().filter((id) -> shop.queue().find(WAITING, id).isPresent()).toList());
            }

            assertThat(restored).containsExactly(ids.subList(0, 1), ids.subList(0, 2), ids);
        }
        finally {
            redis.commands().flushall();
        }
    }

    /**
     * P1, P3: a request that waits for Redis is applied soon after its return, also if
     * the clock of the database was set back by an hour meanwhile.
     */
    @EachDatabase
    @Tag("matrix")
    void aClockThatIsSetBackDelaysNoRequest(ShopDatabase database) {
        if (database == ShopDatabase.H2) {
            return; // runs in this process, whose clock is not shifted
        }
        try (ShopApplication shop = ShopApplication.start(List.of(Shop.class, ShiftedClock.class, TimedListener.class),
                redis.port(), database.url(), "clock.hours=1")) {
            shop.queue().send(QUEUE, "0", "first", Duration.ZERO);
            await().untilAsserted(() -> assertThat(shop.rows()).isZero());
            redis.kill();
            shop.transaction().executeWithoutResult((status) -> shop.queue().send(QUEUE, "1", "waits", Duration.ZERO));
            await().untilAsserted(
                    () -> assertThat(shop.context().getBean(JournalFactory.class).status().relayProblem()).isNotNull());
            ShiftedDataSource.setBack = true;
            redis.restart();

            await().atMost(Duration.ofMinutes(3))
                .untilAsserted(
                        () -> assertThat(shop.context().getBean(TimedListener.class).handled).containsKey("waits"));
        }
        finally {
            ShiftedDataSource.setBack = false;
            redis.commands().flushall();
        }
    }

    /**
     * The documented exception to P2: a step forward between the insert and the offer
     * makes a message early by the step, and no more.
     */
    @EachDatabase
    @Tag("matrix")
    void aClockThatIsSetForwardMakesAMessageEarlyByTheStep(ShopDatabase database) {
        if (database == ShopDatabase.H2) {
            return; // runs in this process, whose clock is not shifted
        }
        Duration delay = Duration.ofHours(3);
        ShiftedDataSource.setBack = true;
        try (ShopApplication shop = ShopApplication.start(List.of(Shop.class, ShiftedClock.class), redis.port(),
                database.url(), "clock.hours=1")) {
            shop.queue().send(WAITING, "0", "first", delay);
            await().untilAsserted(() -> assertThat(shop.accepted()).isOne());
            redis.kill();
            long before = System.currentTimeMillis();
            shop.transaction().executeWithoutResult((status) -> shop.queue().send(WAITING, "1", "waits", delay));
            long after = System.currentTimeMillis();
            // The first call to Redis, whose delay was read before the step, has failed.
            await().untilAsserted(
                    () -> assertThat(shop.context().getBean(JournalFactory.class).status().relayProblem()).isNotNull());
            ShiftedDataSource.setBack = false;
            redis.restart();

            await().atMost(Duration.ofMinutes(3))
                .untilAsserted(() -> assertThat(shop.queue().find(WAITING, "1")).isPresent());
            Duration early = delay.minusHours(1);
            assertThat(shop.queue().find(WAITING, "1").orElseThrow().dueAt().toEpochMilli())
                .isGreaterThanOrEqualTo(before + early.toMillis())
                .isLessThan(after + early.plusMinutes(30).toMillis());
        }
        finally {
            ShiftedDataSource.setBack = false;
            redis.commands().flushall();
        }
    }

    static class TimedListener {

        final Map<String, Long> handled = new ConcurrentHashMap<>();

        @DelayedListener(QUEUE)
        void handle(String content) {
            this.handled.put(content, System.nanoTime());
        }

    }

    /** Adds hours to the clock of the database in each statement that reads it. */
    static class ShiftedClock {

        @Bean
        static BeanPostProcessor shiftedDataSource(Environment environment) {
            int hours = environment.getRequiredProperty("clock.hours", Integer.class);
            return new BeanPostProcessor() {

                @Override
                public Object postProcessAfterInitialization(Object bean, String name) {
                    return (bean instanceof DataSource source) ? new ShiftedDataSource(source, hours) : bean;
                }

            };
        }

    }

    private static final class ShiftedDataSource extends DelegatingDataSource {

        /** Whether the clock is that of the database again. */
        static volatile boolean setBack;

        private final int hours;

        ShiftedDataSource(DataSource target, int hours) {
            super(target);
            this.hours = hours;
        }

        @Override
        public Connection getConnection() throws SQLException {
            Connection target = super.getConnection();
            return (Connection) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { Connection.class },
                    (proxy, method, arguments) -> {
                        if (method.getName().equals("prepareStatement")) {
                            arguments[0] = shifted((String) arguments[0]);
                        }
                        try {
                            return method.invoke(target, arguments);
                        }
                        catch (InvocationTargetException ex) {
                            throw ex.getTargetException();
                        }
                    });
        }

        private String shifted(String sql) {
            return setBack ? sql
                    : sql
                        .replace("clock_timestamp()", "(clock_timestamp() + INTERVAL '%d HOURS')".formatted(this.hours))
                        .replace("UTC_TIMESTAMP(3)", "(UTC_TIMESTAMP(3) + INTERVAL %d HOUR)".formatted(this.hours));
        }

    }

}

package io.delayqueue.shop.ledger;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.IntStream;

import javax.sql.DataSource;

import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.journal.RestorePlan;
import io.delayqueue.shop.EachDatabase;
import io.delayqueue.shop.Shop;
import io.delayqueue.shop.ShopApplication;
import io.delayqueue.shop.ShopDatabase;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.jdbc.datasource.DelegatingDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Counts the connections that callers and the journal's own work have at a time, and the
 * calls of the database besides statements.
 */
@Tag("server")
class JournalConnectionTests {

    private static final int CALLERS = 4;

    private static final Duration LATER = Duration.ofHours(1);

    private static RedisServer redis;

    @BeforeAll
    static void startRedis() {
        redis = RedisServer.start(RedisBinary.preferred());
    }

    @AfterAll
    static void stopRedis() {
        redis.close();
    }

    /**
     * A caller that took a second connection while it has that of its transaction could
     * wait for ever for the others that do the same.
     */
    @EachDatabase
    void callersHaveOneConnectionAndTheJournalTwo(ShopDatabase database) {
        try (ShopApplication shop = ShopApplication.start(List.of(Shop.class, CountedDataSource.class), redis.port(),
                database.url(), "spring.datasource.hikari.maximum-pool-size=20")) {
            CountedDataSource counts = shop.context().getBean(CountedDataSource.class);
            counts.begin();

            List<CompletableFuture<Void>> callers = IntStream.range(0, CALLERS)
                .mapToObj((caller) -> CompletableFuture.runAsync(() -> send(shop, caller),
                        (task) -> new Thread(task, "caller-" + caller).start()))
                .toList();
            callers.forEach(CompletableFuture::join);
            shop.journal().restore(RestorePlan.all());
            await().atMost(Duration.ofMinutes(1)).untilAsserted(() -> assertThat(shop.rows()).isZero());

            assertThat(counts.ofCallers).hasSize(CALLERS)
                .allSatisfy((caller, most) -> assertThat(most.get()).as(caller).isOne());
            assertThat(counts.mostOfJournal).hasValueBetween(1, 2);
        }
        finally {
            redis.commands().flushall();
        }
    }

    /**
     * Spring reads the type of a parameter that is null from the driver if the statement
     * does not name it. The driver of MariaDB prepares the statement on the server for
     * that, another round trip for each request. Spring leaves out the call for
     * PostgreSQL.
     */
    @ParameterizedTest
    @EnumSource(names = { "H2", "MARIADB" })
    void noTypeOfAParameterIsReadFromTheDatabase(ShopDatabase database) {
        try (ShopApplication shop = ShopApplication.start(List.of(Shop.class, CountedDataSource.class), redis.port(),
                database.url())) {
            shop.queue().send(Shop.ORDERS, "1", "handled", Duration.ZERO);
            shop.queue().send(Shop.ORDERS, "2", "cancelled", LATER);
            shop.queue().reschedule(Shop.ORDERS, "2", LATER.multipliedBy(2));
            shop.queue().cancel(Shop.ORDERS, "2");
            await().atMost(Duration.ofMinutes(1)).untilAsserted(() -> assertThat(shop.rows()).isZero());
            shop.queue().send(Shop.ORDERS, "3", "restored", LATER);
            redis.commands().flushall();
            shop.journal().restore(RestorePlan.all());
            assertThat(shop.queue().find(Shop.ORDERS, "3")).isPresent();

            assertThat(shop.context().getBean(CountedDataSource.class).typeCalls).hasValue(0);
        }
        finally {
            redis.commands().flushall();
        }
    }

    private static void send(ShopApplication shop, int caller) {
        for (int i = 0; i < 50; i++) {
            String id = caller + "-" + i;
            shop.transaction().executeWithoutResult((status) -> shop.queue().send(Shop.ORDERS, id, id, Duration.ZERO));
            shop.queue().send(Shop.ORDERS, id + "-alone", id, Duration.ZERO);
        }
    }

    /**
     * Counts connections from when they are taken until they are closed, and calls for
     * the types of parameters.
     */
    static final class CountedDataSource implements BeanPostProcessor {

        /** The most connections of each caller at a time. */
        private final Map<String, AtomicInteger> ofCallers = new ConcurrentHashMap<>();

        private final Map<String, AtomicInteger> open = new ConcurrentHashMap<>();

        private final AtomicInteger ofJournal = new AtomicInteger();

        private final AtomicInteger mostOfJournal = new AtomicInteger();

        private final AtomicInteger typeCalls = new AtomicInteger();

        void begin() {
            this.mostOfJournal.set(0);
        }

        @Override
        public Object postProcessAfterInitialization(Object bean, String name) {
            return (bean instanceof DataSource source) ? new DelegatingDataSource(source) {

                @Override
                public Connection getConnection() throws SQLException {
                    String thread = Thread.currentThread().getName();
                    Connection target = super.getConnection();
                    taken(thread);
                    return proxy(Connection.class, target, (method) -> {
                        if (method.equals("close")) {
                            closed(thread);
                        }
                    });
                }

            } : bean;
        }

        /**
         * Returns a proxy of a connection or a statement.
         * @param listener called with the name of each method before it is called
         */
        private <T> T proxy(Class<T> type, T target, Consumer<String> listener) {
            return type.cast(Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { type },
                    (proxy, method, arguments) -> {
                        listener.accept(method.getName());
                        try {
                            Object result = method.invoke(target, arguments);
                            return method.getName().equals("prepareStatement")
                                    ? proxy(PreparedStatement.class, (PreparedStatement) result, this::countTypeCall)
                                    : result;
                        }
                        catch (InvocationTargetException ex) {
                            throw ex.getTargetException();
                        }
                    }));
        }

        private void countTypeCall(String method) {
            if (method.equals("getParameterMetaData")) {
                this.typeCalls.incrementAndGet();
            }
        }

        private void taken(String thread) {
            if (thread.startsWith("caller-")) {
                int now = this.open.computeIfAbsent(thread, (each) -> new AtomicInteger()).incrementAndGet();
                this.ofCallers.computeIfAbsent(thread, (each) -> new AtomicInteger()).accumulateAndGet(now, Math::max);
            }
            else if (thread.startsWith("delayqueue-")) {
                this.mostOfJournal.accumulateAndGet(this.ofJournal.incrementAndGet(), Math::max);
            }
        }

        private void closed(String thread) {
            if (thread.startsWith("caller-")) {
                this.open.get(thread).decrementAndGet();
            }
            else if (thread.startsWith("delayqueue-")) {
                this.ofJournal.decrementAndGet();
            }
        }

    }

}

package io.delayqueue.shop.history;

import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import io.delayqueue.admin.HistoryEntry;
import io.delayqueue.admin.HistoryEntry.Event;
import io.delayqueue.admin.MessageHistory;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.redis.TcpProxy;
import io.delayqueue.journal.HistoryFactory;
import io.delayqueue.shop.ShopDatabase;
import io.delayqueue.template.DelayQueueTemplate;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.simple.JdbcClient;

import static io.delayqueue.shop.history.AuditedShop.ORDERS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests that a database which is away, hangs or restarts delays no send, claim or
 * handler, and that the history loses no more than it says.
 */
@Tag("server")
@ExtendWith(OutputCaptureExtension.class)
class HistoryOutageTests {

    private static final int BUFFER = 20;

    private static RedisServer redis;

    private TcpProxy proxy;

    private String url;

    private ConfigurableApplicationContext context;

    private DelayQueueTemplate queue;

    private AuditedShop shop;

    @BeforeAll
    static void startRedis() {
        redis = RedisServer.start(RedisBinary.preferred());
    }

    @AfterAll
    static void stopRedis() {
        redis.close();
    }

    @BeforeEach
    void createDatabase() {
        this.url = ShopDatabase.POSTGRESQL.url();
        URI address = URI.create(this.url.substring("jdbc:".length()));
        this.proxy = TcpProxy.to(address.getPort());
        this.url = this.url.replace(":" + address.getPort(), ":" + this.proxy.port()) + "&prepareThreshold=0";
    }

    @AfterEach
    void stop() {
        this.proxy.pass();
        if (this.context != null) {
            this.context.close();
        }
        this.proxy.close();
        redis.commands().flushall();
    }

    private void start(String... settings) {
        List<String> arguments = new ArrayList<>(List.of("--spring.data.redis.port=" + redis.port(),
                "--spring.datasource.url=" + this.url, "--spring.datasource.hikari.connection-timeout=1000",
                "--spring.datasource.hikari.initialization-fail-timeout=-1",
                "--spring.datasource.hikari.validation-timeout=500",
                "--spring.autoconfigure.exclude=org.springframework.boot.hibernate.autoconfigure."
                        + "HibernateJpaAutoConfiguration",
                "--spring.data.jpa.repositories.enabled=false", "--delayqueue.journal.mode=audit",
                "--delayqueue.journal.history.buffer=" + BUFFER, "--delayqueue.journal.jdbc.platform=postgresql",
                "--delayqueue.command-timeout=2s", "--spring.main.banner-mode=off",
                "--spring.main.web-application-type=none"));
        arguments.addAll(List.of(settings));
        this.context = SpringApplication.run(AuditedShop.class, arguments.toArray(String[]::new));
        this.queue = this.context.getBean(DelayQueueTemplate.class);
        this.shop = this.context.getBean(AuditedShop.class);
    }

    private void sendAndAwaitHandlers(int messages, String prefix) {
        IntStream.range(0, messages).forEach((i) -> this.queue.send(ORDERS, prefix + i, prefix + i, Duration.ZERO));
        await().untilAsserted(
                () -> assertThat(this.shop.handled).filteredOn((order) -> order.startsWith(prefix)).hasSize(messages));
    }

    private List<Event> events(String id) {
        return this.context.getBean(MessageHistory.class).of(ORDERS, id).stream().map(HistoryEntry::event).toList();
    }

    private long dropped() {
        return this.context.getBean(HistoryFactory.class).dropped();
    }

    private long rows() {
        return this.context.getBean(JdbcClient.class)
            .sql("SELECT COUNT(*) FROM delayqueue_history")
            .query(Long.class)
            .single();
    }

    private static long count(CapturedOutput output, String line) {
        return output.getAll().lines().filter((each) -> each.contains(line)).count();
    }

    private enum Outage {

        REFUSED, HANGING;

        void begin(TcpProxy proxy) {
            if (this == REFUSED) {
                proxy.refuse();
            }
            else {
                proxy.blackhole();
            }
        }

    }

    /**
     * Handlers end while the database is away for the whole time. Transitions that do not
     * fit the buffer are dropped and counted; the log has one line when that begins and
     * one when it has ended.
     */
    @ParameterizedTest
    @EnumSource
    void anOutageOfTheDatabaseDelaysNoHandlerAndDropsWhatDoesNotFitTheBuffer(Outage outage, CapturedOutput output) {
        start("--delayqueue.journal.jdbc.initialize-schema=always");
        sendAndAwaitHandlers(1, "before-");
        await().until(() -> events("before-0").contains(Event.HANDLED));

        outage.begin(this.proxy);
        sendAndAwaitHandlers(100, "during-");

        // Three transitions each, of which the buffer and one batch can hold some.
        await().untilAsserted(() -> assertThat(dropped()).isGreaterThan(300 - 2 * BUFFER - 1));
        this.proxy.pass();
        await().atMost(Duration.ofMinutes(1))
            .ignoreExceptions()
            .untilAsserted(() -> assertThat(rows() + dropped()).isEqualTo(303));
        await().atMost(Duration.ofMinutes(1))
            .untilAsserted(() -> assertThat(count(output, "No more rows of the history are dropped")).isEqualTo(1));
        assertThat(count(output, "Rows of the history are dropped")).isEqualTo(1);
        sendAndAwaitHandlers(1, "after-");
        await().untilAsserted(
                () -> assertThat(events("after-0")).containsExactly(Event.SENT, Event.CLAIMED, Event.HANDLED));
    }

    /**
     * The commit of a batch takes effect, and its answer is lost: no row is there twice.
     */
    @Test
    void aBatchWhoseCommitWasNotAnsweredIsNotWrittenTwice() {
        start("--delayqueue.journal.jdbc.initialize-schema=always");
        sendAndAwaitHandlers(1, "before-");
        await().until(() -> events("before-0").contains(Event.HANDLED));
        this.proxy.loseReplyTo("COMMIT");

        sendAndAwaitHandlers(1, "lost-");

        await().atMost(Duration.ofMinutes(1)).until(() -> !this.proxy.isLossPending());
        await().atMost(Duration.ofMinutes(1))
            .ignoreExceptions()
            .untilAsserted(
                    () -> assertThat(events("lost-0")).containsExactly(Event.SENT, Event.CLAIMED, Event.HANDLED));
        sendAndAwaitHandlers(1, "after-");
        await().until(() -> events("after-0").contains(Event.HANDLED));
        assertThat(rows()).isEqualTo(9);
    }

    /** An application does not need the database to start. */
    @Test
    void anApplicationStartsWithoutItsDatabase(CapturedOutput output) {
        start("--delayqueue.journal.jdbc.initialize-schema=always");
        this.context.close();
        this.proxy.refuse();

        start("--delayqueue.journal.jdbc.initialize-schema=never");
        sendAndAwaitHandlers(1, "early-");
        this.proxy.pass();

        await().atMost(Duration.ofMinutes(1))
            .ignoreExceptions()
            .untilAsserted(
                    () -> assertThat(events("early-0")).containsExactly(Event.SENT, Event.CLAIMED, Event.HANDLED));
        assertThat(count(output, "The table of the history cannot be checked")).isEqualTo(1);
        assertThat(dropped()).isZero();
    }

}

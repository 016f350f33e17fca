package io.delayqueue.journal;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;

import io.delayqueue.CancelResult;
import io.delayqueue.DelayedListener;
import io.delayqueue.DelayedMessage;
import io.delayqueue.OnDuplicate;
import io.delayqueue.RescheduleResult;
import io.delayqueue.SendOutcome;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.shop.EachDatabase;
import io.delayqueue.shop.RedisCopy;
import io.delayqueue.shop.ShopDatabase;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.routing.StoreComponents;
import io.delayqueue.template.DelayQueueTemplate;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.jdbc.core.simple.JdbcClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests requests that are applied after a restore, or the sweep, has read the row of a
 * message and before it offers the message.
 */
@Tag("server")
class RestoreRaceTests {

    private static final String QUEUE = "raced";

    private static final Duration LATER = Duration.ofHours(2);

    private static RedisServer redis;

    private ConfigurableApplicationContext context;

    private DelayQueueTemplate queue;

    private JournalRestorer restorer;

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
        this.context.close();
        Racer.beforeSchedule.set(null);
        redis.commands().flushall();
    }

    private void start(ShopDatabase database) {
        this.context = SpringApplication.run(Racer.class, "--spring.data.redis.port=" + redis.port(),
                "--spring.datasource.url=" + database.url(), "--delayqueue.journal.mode=ledger",
                "--delayqueue.journal.jdbc.initialize-schema=always", "--spring.main.banner-mode=off",
                "--spring.main.web-application-type=none");
        this.queue = this.context.getBean(DelayQueueTemplate.class);
        JournalStatus status = new JournalStatus();
        status.pairs().stop();
        StoreComponents components = this.context.getBean(StoreComponents.class);
        JournalTable table = new JournalTable(this.context.getBean(JournalDatabase.class), Duration.ofSeconds(20));
        OfferSender offers = new OfferSender(components, (name) -> JournalMode.LEDGER, Duration.ofMinutes(1));
        this.restorer = new JournalRestorer(table, offers, new LedgerLookup(components, offers), status,
                (name) -> JournalMode.LEDGER);
        this.queue.send(QUEUE, "1", "old", LATER);
        await().untilAsserted(() -> assertThat(redis.commands().exists("dq:{raced}:journal")).isOne());
        await().untilAsserted(() -> assertThat(this.context.getBean(JdbcClient.class)
            .sql("SELECT COUNT(*) FROM delayqueue_journal WHERE accepted = TRUE")
            .query(Long.class)
            .single()).isOne());
        this.context.getBean("delayQueueJournalReconciler", SmartLifecycle.class).stop();
    }

    /** Reads the row of the message, as a node that is about to restore it. */
    private RestorePage read() {
        return this.restorer.reader(RestoreSelection.of(RestorePlan.all().queue(QUEUE)))
            .read(RestoreCursor.start(0).nextPart());
    }

    private static void lose() {
        redis.commands().del("dq:{raced}:messages", "dq:{raced}:scheduled", "dq:{raced}:revisions");
    }

    /** P6: a message that is cancelled in between is not stored. */
    @EachDatabase
    void aCancelledMessageIsNotRestored(ShopDatabase database) {
        start(database);
        lose();
        RestorePage page = read();
        assertThat(page.rows()).hasSize(1);

        assertThat(this.queue.cancel(QUEUE, "1")).isEqualTo(CancelResult.NOT_FOUND);

        assertThat(this.restorer.offer(page)).isEqualTo(new RestoreReport(0, 1, 0, 0));
        assertThat(this.queue.find(QUEUE, "1")).isEmpty();
    }

    /** P6: a message that is replaced in between is not handled after the other. */
    @EachDatabase
    void aReplacedMessageIsNotRestored(ShopDatabase database) {
        start(database);
        lose();
        RestorePage page = read();

        assertThat(
                this.queue.send(DelayedMessage.builder(QUEUE, "new").id("1").onDuplicate(OnDuplicate.REPLACE).build())
                    .outcome())
            .isEqualTo(SendOutcome.SCHEDULED);
        await().untilAsserted(() -> assertThat(handled()).containsExactly("new"));
        await().untilAsserted(() -> assertThat(this.queue.find(QUEUE, "1")).isEmpty());

        assertThat(this.restorer.offer(page)).isEqualTo(new RestoreReport(0, 1, 0, 0));
        assertThat(this.queue.find(QUEUE, "1")).isEmpty();
    }

    /** P2, P3: a message that is moved in between stays where it is. */
    @EachDatabase
    void aMovedMessageIsNotMovedBack(ShopDatabase database) {
        start(database);
        RestorePage page = read();

        this.queue.reschedule(QUEUE, "1", LATER.dividedBy(2));
        Instant due = due();

        assertThat(this.restorer.offer(page)).isEqualTo(new RestoreReport(0, 1, 0, 0));
        assertThat(due()).isEqualTo(due);
    }

    /**
     * P2: a reschedule does not find the message, which a restore then stores at its
     * former time.
     */
    @EachDatabase
    void aMessageThatIsRestoredWhileItIsMovedHasTheNewTime(ShopDatabase database) {
        start(database);
        lose();
        RestorePage page = read();
        Instant before = Instant.ofEpochMilli(page.rows().get(0).message().due().millis());
        Racer.beforeSchedule.set(() -> assertThat(this.restorer.offer(page)).isEqualTo(new RestoreReport(1, 0, 0, 0)));

        assertThat(this.queue.reschedule(QUEUE, "1", LATER.multipliedBy(2))).isEqualTo(RescheduleResult.RESCHEDULED);

        assertThat(Racer.beforeSchedule).hasValue(null);
        assertThat(due()).isAfter(before.plus(LATER.dividedBy(2)));
        await().untilAsserted(
                () -> assertThat(read().rows().get(0).message().due().millis()).isEqualTo(due().toEpochMilli()));
    }

    /** P2: a message that an older copy of Redis has moved is moved back. */
    @EachDatabase
    void aMessageOfAnOlderCopyIsMovedBack(ShopDatabase database) {
        start(database);
        RedisCopy copy = RedisCopy.of(redis);
        this.queue.reschedule(QUEUE, "1", LATER.multipliedBy(2));
        Instant due = due();
        await().untilAsserted(
                () -> assertThat(read().rows().get(0).message().due().millis()).isEqualTo(due.toEpochMilli()));
        copy.restore(redis);
        assertThat(due()).isBefore(due);

        assertThat(this.restorer.offer(read())).isEqualTo(new RestoreReport(0, 1, 0, 0));

        assertThat(due()).isEqualTo(due);
    }

    private Instant due() {
        return this.queue.find(QUEUE, "1").orElseThrow().dueAt();
    }

    private List<String> handled() {
        return this.context.getBean(Racer.class).handled;
    }

    @EnableAutoConfiguration
    static class Racer {

        /** Runs before the next call that stores messages. */
        static final AtomicReference<Runnable> beforeSchedule = new AtomicReference<>();

        final List<String> handled = new CopyOnWriteArrayList<>();

        @Bean
        static BeanPostProcessor hook() {
            return new BeanPostProcessor() {

                @Override
                public Object postProcessAfterInitialization(Object bean, String name) {
                    return (bean instanceof StoreComponents store) ? hooked(store) : bean;
                }

            };
        }

        private static StoreComponents hooked(StoreComponents store) {
            MessageStore messages = (MessageStore) Proxy.newProxyInstance(MessageStore.class.getClassLoader(),
                    new Class<?>[] { MessageStore.class }, (proxy, method, arguments) -> {
                        Runnable hook = method.getName().equals("schedule") ? beforeSchedule.getAndSet(null) : null;
                        if (hook != null) {
                            hook.run();
                        }
                        return method.invoke(store.messages(), arguments);
                    });
            return new StoreComponents(messages, store.inspector(), store.wakeUps(), store.partitions(), store.events(),
                    store.registrar(), store.schedules());
        }

        @DelayedListener(QUEUE)
        void handle(String content) {
            this.handled.add(content);
        }

    }

}

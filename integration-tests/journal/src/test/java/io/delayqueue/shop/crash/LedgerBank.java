package io.delayqueue.shop.crash;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import io.delayqueue.DelayedListener;
import io.delayqueue.DelayedMessage;
import io.delayqueue.OnDuplicate;
import io.delayqueue.template.DelayQueueTemplate;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * An application that sends payments in transactions and handles them with a
 * transactional listener. The table {@code payment} has for each payment how many times
 * it was made: by the handler, or by the transaction that cancels its message. As a
 * process of its own it suspends a thread like {@link LedgerShop}.
 */
@EnableAutoConfiguration
class LedgerBank {

    private static final String PAYMENTS = "payments";

    /** The start of the ids of messages that are held until {@link #LATER}. */
    private static final String HELD = "held-";

    /** Longer than a test: a cancel that comes too late would have no effect. */
    private static final Duration LATER = Duration.ofHours(2);

    private static final int THREADS = 4;

    private static final Duration PAUSE = Duration.ofMillis(50);

    private final JdbcClient jdbc;

    private final DelayQueueTemplate queue;

    private final TransactionTemplate transaction;

    LedgerBank(JdbcClient jdbc, DelayQueueTemplate queue, PlatformTransactionManager transactions) {
        this.jdbc = jdbc;
        this.queue = queue;
        this.transaction = new TransactionTemplate(transactions);
    }

    public static void main(String[] arguments) {
        ConfigurableApplicationContext context = SpringApplication.run(LedgerBank.class, arguments);
        LedgerBank bank = context.getBean(LedgerBank.class);
        ScheduledExecutorService clerks = Executors.newScheduledThreadPool(THREADS);
        for (int i = 0; i < THREADS; i++) {
            clerks.scheduleWithFixedDelay(bank::work, i, PAUSE.toMillis(), TimeUnit.MILLISECONDS);
        }
        System.out.println("READY bank");
    }

    @Bean
    static BeanPostProcessor points(Environment environment) {
        return LedgerShop.points(environment);
    }

    @DelayedListener(value = PAYMENTS, concurrency = "4", transactional = true)
    void pay(String id) {
        count(id);
    }

    private void count(String id) {
        this.jdbc.sql("UPDATE payment SET times = times + 1 WHERE id = ?").param(id).update();
    }

    private void work() {
        try {
            place(UUID.randomUUID().toString());
        }
        catch (RuntimeException ex) {
            System.out.println("A payment failed: " + ex);
        }
    }

    private void place(String id) {
        Duration soon = Duration.ofMillis(ThreadLocalRandom.current().nextInt(2000));
        switch (ThreadLocalRandom.current().nextInt(7)) {
            case 0 -> this.transaction.executeWithoutResult((status) -> {
                insert(id, Duration.ZERO, null);
                status.setRollbackOnly();
            });
            case 1 -> {
                commit(() -> insert(HELD + id, LATER, null));
                commit(() -> {
                    this.queue.cancel(PAYMENTS, HELD + id);
                    count(HELD + id);
                });
            }
            case 2 -> {
                commit(() -> insert(HELD + id, LATER, null));
                commit(() -> send(HELD + id, soon, OnDuplicate.REPLACE, null));
            }
            case 3 -> {
                commit(() -> insert(HELD + id, LATER, null));
                commit(() -> this.queue.reschedule(PAYMENTS, HELD + id, soon));
            }
            case 4 -> commit(() -> insert(id, soon, "group-" + ThreadLocalRandom.current().nextInt(3)));
            default -> commit(() -> insert(id, soon, null));
        }
    }

    /**
     * Moves messages that are held until later to now: a process was killed before it
     * moved, replaced or cancelled them.
     * @return how many there were
     */
    int release() {
        List<String> ids = this.jdbc.sql("SELECT id FROM payment WHERE times = 0 AND id LIKE '" + HELD + "%'")
            .query(String.class)
            .list();
        commit(() -> ids.forEach((id) -> this.queue.reschedule(PAYMENTS, id, Duration.ZERO)));
        return ids.size();
    }

    private void commit(Runnable work) {
        this.transaction.executeWithoutResult((status) -> work.run());
    }

    private void insert(String id, Duration delay, String group) {
        this.jdbc.sql("INSERT INTO payment VALUES (?, 0)").param(id).update();
        send(id, delay, OnDuplicate.KEEP, group);
    }

    private void send(String id, Duration delay, OnDuplicate onDuplicate, String group) {
        DelayedMessage.Builder message = DelayedMessage.builder(PAYMENTS, id)
            .id(id)
            .delay(delay)
            .onDuplicate(onDuplicate);
        this.queue.send(((group != null) ? message.group(group) : message).build());
    }

}

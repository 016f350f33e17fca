package io.delayqueue.shop;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;

import io.delayqueue.template.DelayQueueTemplate;

import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Runs a process that places and cancels orders until it is killed. Each order is a row
 * and a message of one transaction, and one in five is rolled back.
 */
final class OrderClerk {

    static final String TABLE = "CREATE TABLE shop_order (id VARCHAR(64) PRIMARY KEY, state VARCHAR(16) NOT NULL)";

    private static final int THREADS = 4;

    private final JdbcClient jdbc;

    private final DelayQueueTemplate queue;

    private final TransactionTemplate transaction;

    private OrderClerk(ConfigurableApplicationContext context) {
        this.jdbc = context.getBean(JdbcClient.class);
        this.queue = context.getBean(DelayQueueTemplate.class);
        this.transaction = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
    }

    public static void main(String[] arguments) {
        OrderClerk clerk = new OrderClerk(SpringApplication.run(Shop.class, arguments));
        IntStream.range(0, THREADS).forEach((i) -> new Thread(clerk::work, "clerk-" + i).start());
        System.out.println("READY clerk");
    }

    private void work() {
        while (true) {
            String id = UUID.randomUUID().toString();
            switch (ThreadLocalRandom.current().nextInt(5)) {
                case 0 -> place("rolled-back-" + id, Duration.ZERO, true);
                case 1 -> {
                    place(id, Duration.ofHours(1), false);
                    cancel(id);
                }
                default -> place(id, Duration.ofMillis(ThreadLocalRandom.current().nextInt(200)), false);
            }
        }
    }

    private void place(String id, Duration delay, boolean rollBack) {
        this.transaction.executeWithoutResult((status) -> {
            this.jdbc.sql("INSERT INTO shop_order VALUES (?, ?)")
                .params(id, delay.isZero() || delay.toHours() == 0 ? "PLACED" : "HELD")
                .update();
            this.queue.send(Shop.ORDERS, id, id, delay);
            if (rollBack) {
                status.setRollbackOnly();
            }
        });
    }

    private void cancel(String id) {
        this.transaction.executeWithoutResult((status) -> {
            this.queue.cancel(Shop.ORDERS, id);
            this.jdbc.sql("UPDATE shop_order SET state = 'CANCELLED' WHERE id = ?").param(id).update();
        });
    }

}

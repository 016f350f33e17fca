package io.delayqueue.shop.crash;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

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
 * An application that sends, cancels, moves and replaces orders in transactions, and
 * handles them. The table {@code shop_order} has for each order the content of its
 * message, or the state CANCELLED. Each handling appends a line to a file.
 * <p>
 * As a process of its own it suspends a thread at the point {@code crash.point} when it
 * has passed it {@code crash.after} times, and prints a line. The thread continues after
 * a line of input, and no more orders are placed after a second one.
 */
@EnableAutoConfiguration
class LedgerShop {

    static final String ORDERS = "ledger";

    /** Messages that a process handles at once. */
    static final int CONCURRENCY = 4;

    /** The start of the ids of messages that are held until {@link #LATER}. */
    static final String HELD = "held-";

    /** Longer than a test: a cancel that comes too late would have no effect. */
    private static final Duration LATER = Duration.ofHours(2);

    private static final CountDownLatch resumed = new CountDownLatch(1);

    private static final int THREADS = 4;

    private static final Duration PAUSE = Duration.ofMillis(30);

    private final JdbcClient jdbc;

    private final DelayQueueTemplate queue;

    private final TransactionTemplate transaction;

    private final Path handled;

    LedgerShop(JdbcClient jdbc, DelayQueueTemplate queue, PlatformTransactionManager transactions,
            Environment environment) {
        this.jdbc = jdbc;
        this.queue = queue;
        this.transaction = new TransactionTemplate(transactions);
        this.handled = Path.of(environment.getRequiredProperty("crash.handled"));
    }

    public static void main(String[] arguments) {
        ScheduledExecutorService clerks = Executors.newScheduledThreadPool(THREADS);
        resumeOnInput(clerks);
        ConfigurableApplicationContext context = SpringApplication.run(LedgerShop.class, arguments);
        LedgerShop shop = context.getBean(LedgerShop.class);
        for (int i = 0; i < THREADS; i++) {
            clerks.scheduleWithFixedDelay(shop::work, i, PAUSE.toMillis(), TimeUnit.MILLISECONDS);
        }
        System.out.println("READY shop");
    }

    /**
     * Lets the suspended thread continue after a line of input, and ends the clerks after
     * a second one.
     */
    static void resumeOnInput(ScheduledExecutorService clerks) {
        Thread reader = new Thread(() -> readInput(clerks), "input");
        reader.setDaemon(true);
        reader.start();
    }

    private static void readInput(ScheduledExecutorService clerks) {
        try {
            if (System.in.read() >= 0) {
                resumed.countDown();
            }
            if (System.in.read() >= 0) {
                clerks.shutdown();
                if (clerks.awaitTermination(1, TimeUnit.MINUTES)) {
                    System.out.println("READY ended");
                }
            }
        }
        catch (IOException | InterruptedException ex) {
            System.out.println("No more input: " + ex);
        }
    }

    @Bean
    static BeanPostProcessor points(Environment environment) {
        String name = environment.getProperty("crash.point", "");
        AtomicInteger rest = new AtomicInteger(environment.getProperty("crash.after", Integer.class, 0));
        return new BeanPostProcessor() {

            @Override
            public Object postProcessAfterInitialization(Object bean, String beanName) {
                return (bean instanceof DataSource source && !name.isEmpty())
                        ? new PointDataSource(source, (point) -> reached(point, name, rest)) : bean;
            }

        };
    }

    private static void reached(JournalPoint point, String name, AtomicInteger rest) {
        if (point.name().equals(name) && rest.getAndDecrement() == 0) {
            System.out.println("HANDLING " + point);
            try {
                resumed.await();
                System.out.println("READY resumed");
            }
            catch (InterruptedException ex) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @DelayedListener(value = ORDERS, concurrency = "" + CONCURRENCY)
    void onOrder(DelayedOrder order) {
        write(order);
        if (order.content().equals("chain")) {
            this.transaction.executeWithoutResult((status) -> {
                if (update(order.id(), "chained")) {
                    send(order.id(), "chained", Duration.ZERO, OnDuplicate.AFTER_CURRENT, null);
                }
            });
        }
    }

    private void write(DelayedOrder order) {
        try {
            Files.writeString(this.handled,
                    "%s %s %d%n".formatted(order.id(), order.content(), ProcessHandle.current().pid()),
                    StandardCharsets.UTF_8, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private void work() {
        try {
            place(UUID.randomUUID().toString());
        }
        catch (RuntimeException ex) {
            System.out.println("An order failed: " + ex);
        }
    }

    /** Places an order whose message is due at once. */
    void placeNow(String id) {
        commit(() -> insert(id, "now", Duration.ZERO, null));
    }

    private void place(String id) {
        Duration soon = Duration.ofMillis(ThreadLocalRandom.current().nextInt(300));
        switch (ThreadLocalRandom.current().nextInt(8)) {
            case 0 -> this.transaction.executeWithoutResult((status) -> {
                insert("undone-" + id, "undone", Duration.ZERO, null);
                status.setRollbackOnly();
            });
            case 1 -> {
                commit(() -> insert(HELD + id, "held", LATER, null));
                commit(() -> {
                    this.queue.cancel(ORDERS, HELD + id);
                    update(HELD + id, "CANCELLED");
                });
            }
            case 2 -> {
                commit(() -> insert(HELD + id, "first", LATER, null));
                commit(() -> {
                    update(HELD + id, "second");
                    send(HELD + id, "second", soon, OnDuplicate.REPLACE, null);
                });
            }
            case 3 -> {
                commit(() -> insert(HELD + id, "moved", LATER, null));
                commit(() -> this.queue.reschedule(ORDERS, HELD + id, soon));
            }
            case 4 -> commit(() -> insert(id, "grouped", soon, "group-" + ThreadLocalRandom.current().nextInt(3)));
            case 5 -> commit(() -> insert(id, "chain", soon, null));
            default -> commit(() -> insert(id, "plain", soon, null));
        }
    }

    /** Moves messages to now. */
    void release(List<String> ids) {
        commit(() -> ids.forEach((id) -> this.queue.reschedule(ORDERS, id, Duration.ZERO)));
    }

    private void commit(Runnable work) {
        this.transaction.executeWithoutResult((status) -> work.run());
    }

    private void insert(String id, String content, Duration delay, String group) {
        this.jdbc.sql("INSERT INTO shop_order VALUES (?, ?)").params(id, content).update();
        send(id, content, delay, OnDuplicate.KEEP, group);
    }

    private boolean update(String id, String content) {
        return this.jdbc.sql("UPDATE shop_order SET content = ? WHERE id = ? AND content <> ?")
            .params(content, id, content)
            .update() == 1;
    }

    private void send(String id, String content, Duration delay, OnDuplicate onDuplicate, String group) {
        DelayedMessage.Builder message = DelayedMessage.builder(ORDERS, new DelayedOrder(id, content))
            .id(id)
            .delay(delay)
            .onDuplicate(onDuplicate);
        this.queue.send(((group != null) ? message.group(group) : message).build());
    }

    /** Holds the payload of a message. */
    record DelayedOrder(String id, String content) {
    }

}

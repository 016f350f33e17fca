package io.delayqueue.shop.crash;

import java.time.Duration;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.delayqueue.DelayedListener;
import io.delayqueue.DelayedMessage;
import io.delayqueue.template.DelayQueueTemplate;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * An application that sends messages to a ledger at a steady rate, and counts how often
 * each is handled. It also sends some that it rolls back, and some that it cancels after
 * a few seconds.
 */
@EnableAutoConfiguration
class LedgerLoad {

    static final String QUEUE = "load";

    /** The delay of messages that are cancelled before. */
    static final Duration CANCELLED = Duration.ofHours(4);

    /** Messages of a transaction. */
    private static final int BATCH = 10;

    /**
     * After each time this number of batches, a send is rolled back and one is cancelled.
     */
    private static final int REGULAR_BATCHES = 5;

    /** Messages that are to be cancelled at any time. */
    private static final int HELD = 50;

    /** The payload of messages that no handler may get. */
    private static final int UNWANTED = -1;

    final Map<Integer, AtomicInteger> handled = new ConcurrentHashMap<>();

    final AtomicInteger unwanted = new AtomicInteger();

    private final AtomicInteger next = new AtomicInteger();

    private final AtomicInteger rolledBack = new AtomicInteger();

    private final AtomicInteger cancelled = new AtomicInteger();

    private final Deque<String> held = new ConcurrentLinkedDeque<>();

    private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();

    private final DelayQueueTemplate queue;

    private final TransactionTemplate transaction;

    LedgerLoad(DelayQueueTemplate queue, PlatformTransactionManager transactions) {
        this.queue = queue;
        this.transaction = new TransactionTemplate(transactions);
    }

    @DelayedListener(value = QUEUE, concurrency = "4")
    void onMessage(int number) {
        if (number == UNWANTED) {
            this.unwanted.incrementAndGet();
        }
        else {
            this.handled.computeIfAbsent(number, (each) -> new AtomicInteger()).incrementAndGet();
        }
    }

    /**
     * Sends messages at a rate, which are due at once or within three seconds.
     * @return a latch that is at zero when all are sent, and all cancels too
     */
    CountDownLatch send(int rate, int messages) {
        CountDownLatch sent = new CountDownLatch(messages / BATCH + 1);
        this.clock.scheduleAtFixedRate(() -> {
            if (sent.getCount() > 1) {
                sendBatch(this.next.getAndAdd(BATCH));
                sent.countDown();
            }
            else if (sent.getCount() == 1) {
                this.held.forEach(this::cancel);
                sent.countDown();
            }
        }, 0, TimeUnit.SECONDS.toMicros(BATCH) / rate, TimeUnit.MICROSECONDS);
        return sent;
    }

    private void sendBatch(int first) {
        sendInTransaction(IntStream.range(first, first + BATCH)
            .mapToObj((number) -> message(number, Duration.ofMillis(ThreadLocalRandom.current().nextInt(3000))))
            .toList());
        if (first / BATCH % REGULAR_BATCHES == 0) {
            rollBack();
            hold("cancelled-" + first);
        }
    }

    private void rollBack() {
        this.transaction.executeWithoutResult((status) -> {
            this.queue.send(DelayedMessage.builder(QUEUE, UNWANTED).build());
            status.setRollbackOnly();
        });
        this.rolledBack.incrementAndGet();
    }

    /** Sends a message that is cancelled later, and cancels the oldest of such. */
    private void hold(String id) {
        sendInTransaction(List.of(DelayedMessage.builder(QUEUE, UNWANTED).id(id).delay(CANCELLED).build()));
        this.held.add(id);
        if (this.held.size() > HELD) {
            cancel(this.held.remove());
        }
    }

    private void cancel(String id) {
        this.transaction.executeWithoutResult((status) -> this.queue.cancel(QUEUE, id));
        this.cancelled.incrementAndGet();
    }

    /** Sends messages that are not handled while the test runs. */
    void sendBacklog(int messages, Duration delay) {
        for (int i = 0; i < messages; i += BATCH) {
            sendInTransaction(IntStream.range(0, BATCH)
                .mapToObj((each) -> DelayedMessage.builder(QUEUE, UNWANTED).delay(delay).build())
                .toList());
        }
    }

    private void sendInTransaction(List<DelayedMessage> messages) {
        this.transaction.executeWithoutResult((status) -> this.queue.sendAll(messages));
    }

    private static DelayedMessage message(int number, Duration delay) {
        return DelayedMessage.builder(QUEUE, number).id(Integer.toString(number)).delay(delay).build();
    }

    /** Returns how many messages were sent, apart from the backlog. */
    int sent() {
        return this.next.get();
    }

    int rolledBack() {
        return this.rolledBack.get();
    }

    int cancelled() {
        return this.cancelled.get();
    }

    /** Returns the messages that were sent and not handled. */
    List<Integer> missing() {
        return IntStream.range(0, sent()).filter((number) -> !this.handled.containsKey(number)).boxed().toList();
    }

    /** Returns the ids of the messages that were handled again. */
    Set<String> repeated() {
        return this.handled.entrySet()
            .stream()
            .filter((entry) -> entry.getValue().get() > 1)
            .map((entry) -> Integer.toString(entry.getKey()))
            .collect(Collectors.toSet());
    }

    /** Returns how many handlings were not the first of their messages. */
    int extra() {
        return this.handled.values().stream().mapToInt(AtomicInteger::get).sum() - this.handled.size();
    }

    void stop() {
        this.clock.shutdownNow();
    }

}

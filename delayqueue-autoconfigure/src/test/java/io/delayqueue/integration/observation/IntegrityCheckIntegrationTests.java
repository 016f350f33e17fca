package io.delayqueue.integration.observation;

import java.time.Duration;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedMessage;
import io.delayqueue.OnDuplicate;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.admin.DelayQueueIntegrityChecker;
import io.delayqueue.admin.IntegrityReport;
import io.delayqueue.fixtures.application.Application;
import io.delayqueue.fixtures.application.Applications;
import io.delayqueue.fixtures.application.OrderHandler;
import io.delayqueue.fixtures.application.OrderHandler.Order;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * P1: an examination of a queue that is in use finds nothing wrong, as nothing is:
 * neither messages on their way, nor partitions that are being added.
 */
@Tag("server")
class IntegrityCheckIntegrationTests {

    private static final String QUEUE = OrderHandler.QUEUE;

    private static final int SENDERS = 2;

    private static final int EXAMINATIONS = 12;

    private final RedisServer redis = RedisServer.shared(RedisBinary.preferred());

    @RegisterExtension
    final Applications applications = new Applications();

    @Test
    void findsNothingInAQueueThatIsInUse() throws Exception {
        Application node = this.applications.withHandler(this.redis, "delayqueue.listener.max-attempts=2",
                "delayqueue.listener.backoff.initial=10ms");
        node.handler().does((order, delivery) -> {
            if (order.number() % 50 == 0) {
                throw new IllegalStateException("boom");
            }
        });
        Application other = this.applications.withoutHandler(this.redis);
        DelayQueueIntegrityChecker checker = other.context().getBean(DelayQueueIntegrityChecker.class);
        AtomicBoolean over = new AtomicBoolean();
        AtomicInteger sent = new AtomicInteger();
        ExecutorService threads = Executors.newFixedThreadPool(SENDERS);
        try {
            Future<?>[] senders = new Future<?>[SENDERS];
            for (int i = 0; i < SENDERS; i++) {
                Random random = new Random(i);
                senders[i] = threads.submit(() -> send(other.queue(), random, sent, over));
            }
            Applications.awaitTrue("messages", () -> sent.get() > 500);
            for (int i = 0; i < EXAMINATIONS; i++) {
                if (i % 4 == 3) {
                    other.queue().repartition(QUEUE, 1 + i / 2);
                }
                IntegrityReport examination = checker.check(QUEUE);
                assertThat(examination.findings()).as("examination %d", i).isEmpty();
                assertThat(examination.isSound()).isTrue();
                assertThat(checker.checkKeys().findings()).isEmpty();
            }
            over.set(true);
            for (Future<?> sender : senders) {
                sender.get(Applications.TIMEOUT.toSeconds(), TimeUnit.SECONDS);
            }
        }
        finally {
            threads.shutdownNow();
        }
        assertThat(checker.check(QUEUE).examined()).as("dead letters and waiting messages").isPositive();
    }

    private static Void send(DelayQueueOperations queue, Random random, AtomicInteger sent, AtomicBoolean over) {
        while (!over.get()) {
            int number = sent.incrementAndGet();
            DelayedMessage.Builder message = DelayedMessage.builder(QUEUE, new Order(number))
                .id("id-" + random.nextInt(300))
                .onDuplicate(random.nextBoolean() ? OnDuplicate.KEEP : OnDuplicate.REPLACE)
                .priority(random.nextInt(10))
                .delay(Duration.ofMillis(random.nextInt(200)));
            if (random.nextInt(3) == 0) {
                message.group("group-" + random.nextInt(5));
            }
            try {
                queue.send(message.build());
            }
            catch (StoreRefusedException ex) {
                // The id is in another group.
            }
            queue.cancel(QUEUE, "id-" + random.nextInt(300));
            queue.reschedule(QUEUE, "id-" + random.nextInt(300), Duration.ofMillis(random.nextInt(200)));
        }
        return null;
    }

}

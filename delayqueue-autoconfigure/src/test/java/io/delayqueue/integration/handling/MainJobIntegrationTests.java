package io.delayqueue.integration.handling;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;

import io.delayqueue.CancelResult;
import io.delayqueue.DeadLetter;
import io.delayqueue.DeadLetterEvent;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedMessage;
import io.delayqueue.OnDuplicate;
import io.delayqueue.QueueStatistics;
import io.delayqueue.ReceivedMessage;
import io.delayqueue.RedriveResult;
import io.delayqueue.RescheduleResult;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.fixtures.application.Application;
import io.delayqueue.fixtures.application.Applications;
import io.delayqueue.fixtures.application.OrderHandler;
import io.delayqueue.fixtures.application.OrderHandler.Handled;
import io.delayqueue.fixtures.application.OrderHandler.Order;
import io.delayqueue.fixtures.application.Topology;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.beans.BeansException;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The main job on every kind of Redis: what is sent is handled when it is due and not
 * before (P2), exactly once where nothing breaks (P1, P3), steered by its sender (P6 to
 * P8), dead after its attempts (P9), and leaves nothing behind (P10).
 */
@ParameterizedClass
@MethodSource("io.delayqueue.fixtures.application.Topology#ofThisRun")
@Tag("server")
class MainJobIntegrationTests {

    private static final Duration FAR = Duration.ofHours(1);

    private static Topology.Opened redis;

    private static Application application;

    private static Applications applications;

    @Parameter
    Topology topology;

    private final OrderHandler handler = application.handler();

    private final DelayQueueOperations queue = application.queue();

    @BeforeParameterizedClassInvocation
    static void start(Topology topology) {
        redis = topology.open();
        applications = new Applications();
        List<String> properties = new ArrayList<>(redis.properties());
        // Wake-ups and due times alone must bring every message.
        properties.add(Applications.NO_SAFETY_POLL);
        properties.add("test.queues=orders,invoices");
        properties.add("delayqueue.listener.max-attempts=2");
        properties.add("delayqueue.listener.backoff.initial=50ms");
        properties.add("delayqueue.queues.invoices.concurrency=1");
        application = applications.start(Config.class, properties.toArray(String[]::new));
    }

    @AfterEach
    void nothingIsLeft() {
        this.handler.does((order, delivery) -> {
        });
        Applications.await(() -> assertThat(redis.commands().keys(applications.namespace() + ":*"))
            .allMatch(Applications::isSetting));
        assertThat(this.handler.rest()).isEmpty();
    }

    @AfterParameterizedClassInvocation
    static void stop() throws Exception {
        applications.close();
        redis.servers().close();
    }

    @Test
    void messagesOfSeveralQueuesAreHandledOnceAndNeverEarly() throws Exception {
        List<SendResult> sent = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            sent.add(this.queue.send((i % 2 == 0) ? "orders" : "invoices", new Order(i), Duration.ofMillis(20 * i)));
        }

        Map<Integer, Handled> handled = new HashMap<>();
        for (int i = 0; i < 40; i++) {
            Handled next = this.handler.next();
            next.assertNotBefore(sent.get(next.number()).dueAt());
            assertThat(next.delivery().dueAt()).isEqualTo(sent.get(next.number()).dueAt());
            assertThat(handled.put(next.number(), next)).isNull();
        }
        assertThat(sent).allMatch((result) -> result.outcome() == SendOutcome.SCHEDULED);
    }

    @Test
    void anInstantIsTheStoresAndOneInThePastMeansNow() throws Exception {
        Instant past = Instant.parse("2001-01-01T00:00:00Z");
        SendResult sent = this.queue.send("orders", new Order(1), past);

        this.handler.next().assertNotBefore(sent.dueAt());
        assertThat(sent.dueAt()).isAfter(past);
    }

    @Test
    void aBatchIsHandled() throws Exception {
        List<DelayedMessage> messages = new ArrayList<>();
        for (int i = 0; i < 250; i++) {
            messages.add(DelayedMessage.builder("orders", new Order(i)).delay(Duration.ofMillis(i)).build());
        }
        List<SendResult> sent = this.queue.sendAll(messages);

        for (int i = 0; i < 250; i++) {
            Handled next = this.handler.next();
            next.assertNotBefore(sent.get(next.number()).dueAt());
        }
    }

    @Test
    void aMessageWhoseHandlerKeepsFailingIsDeadLetteredOnceWithAnEventAndCanBeRedriven() throws Exception {
        this.handler.does((order, delivery) -> {
            throw new IllegalStateException("attempt " + delivery.attempt());
        });
        int deathsBefore = this.handler.deaths().size();
        SendResult sent = this.queue.send("orders", new Order(7), Duration.ZERO);
        assertThat(this.handler.next().delivery().attempt()).isEqualTo(1);
        Handled second = this.handler.next();
        assertThat(second.delivery().attempt()).isEqualTo(2);
        second.assertNotBefore(second.delivery().dueAt());
        assertThat(second.delivery().dueAt()).isAfter(sent.dueAt().plusMillis(39));

        Applications.awaitTrue("the event", () -> this.handler.deaths().size() > deathsBefore);
        DeadLetterEvent event = this.handler.deaths().get(deathsBefore);
        List<DeadLetter> deadLetters = this.queue.deadLetters("orders").list(null, 10).deadLetters();
        assertThat(deadLetters).hasSize(1);
        DeadLetter deadLetter = deadLetters.get(0);
        assertThat(event).isEqualTo(new DeadLetterEvent("orders", sent.id(), deadLetter.id(), 2, event.reason()));
        assertThat(event.reason()).contains("attempt 2");
        assertThat(deadLetter.cause()).contains("attempt 2");
        assertThat(deadLetter.firstFailure()).contains("attempt 1");
        assertThat(deadLetter.failures()).isEqualTo(2);
        assertThat(deadLetter.lapses()).isZero();
        assertThat(deadLetter.payload()).isEqualTo("{\"number\":7}");

        this.handler.does((order, delivery) -> {
        });
        assertThat(this.queue.deadLetters("orders").redrive(deadLetter.id())).isEqualTo(RedriveResult.REDRIVEN);
        Handled again = this.handler.next();
        assertThat(again.delivery().attempt()).isEqualTo(1);
        assertThat(again.delivery().id()).isEqualTo(sent.id());
    }

    @Test
    void aCancelledMessageIsNotHandled() throws Exception {
        CountDownLatch go = occupyInvoices();
        SendResult sent = this.queue.send("invoices", new Order(1), Duration.ZERO);
        this.queue.send("invoices", new Order(2), Duration.ZERO);

        assertThat(this.queue.cancel("invoices", sent.id())).isEqualTo(CancelResult.CANCELLED);
        assertThat(this.queue.cancel("invoices", sent.id())).isEqualTo(CancelResult.NOT_FOUND);
        assertThat(this.queue.find("invoices", sent.id())).isEmpty();
        go.countDown();

        assertThat(this.handler.next().number()).isEqualTo(2);
    }

    /** Occupies the only handler of the queue, so that due messages wait. */
    private CountDownLatch occupyInvoices() throws InterruptedException {
        CountDownLatch go = new CountDownLatch(1);
        this.handler.does((order, delivery) -> go.await());
        this.queue.send("invoices", new Order(0), Duration.ZERO);
        assertThat(this.handler.next().number()).isZero();
        return go;
    }

    @Test
    void aRescheduleToAnEarlierTimeWakesASleepingWorker() throws Exception {
        SendResult sent = this.queue.send("orders", new Order(1), FAR);

        assertThat(this.queue.reschedule("orders", sent.id(), Duration.ofMillis(50)))
            .isEqualTo(RescheduleResult.RESCHEDULED);
        Handled handled = this.handler.next();
        handled.assertNotBefore(handled.delivery().dueAt());
        assertThat(handled.delivery().dueAt()).isBefore(sent.dueAt());
    }

    @Test
    void aRescheduleToALaterTimeIsWaitedFor() throws Exception {
        CountDownLatch go = occupyInvoices();
        SendResult sent = this.queue.send("invoices", new Order(1), Duration.ZERO);
        Instant later = sent.dueAt().plusMillis(700);

        assertThat(this.queue.reschedule("invoices", sent.id(), later)).isEqualTo(RescheduleResult.RESCHEDULED);
        // Later still if the machine stalled for so long.
        Instant due = this.queue.find("invoices", sent.id()).orElseThrow().dueAt();
        go.countDown();
        Handled handled = this.handler.next().assertNotBefore(due);
        assertThat(due).isAfterOrEqualTo(later);
        assertThat(handled.delivery().dueAt()).isEqualTo(due);
    }

    @Test
    void amongDueMessagesTheHighestPriorityComesFirst() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        this.handler.does((order, delivery) -> {
            begun.countDown();
            go.await();
        });
        this.queue.send("invoices", new Order(0), Duration.ZERO);
        begun.await();
        this.queue.send(DelayedMessage.builder("invoices", new Order(1)).priority(0).build());
        this.queue.send(DelayedMessage.builder("invoices", new Order(2)).build());
        awaitTime(this.queue.send(DelayedMessage.builder("invoices", new Order(3)).priority(9).build()).dueAt());
        go.countDown();

        assertThat(List.of(this.handler.next().number(), this.handler.next().number(), this.handler.next().number(),
                this.handler.next().number()))
            .containsExactly(0, 3, 2, 1);
    }

    @Test
    void aMessageThatExpiredWhileItWaitedIsDropped() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        this.handler.does((order, delivery) -> {
            begun.countDown();
            go.await();
        });
        this.queue.send("invoices", new Order(0), Duration.ZERO);
        begun.await();
        SendResult mortal = this.queue
            .send(DelayedMessage.builder("invoices", new Order(1)).timeToLive(Duration.ofMillis(100)).build());
        Instant over = mortal.dueAt().plusMillis(200);
        awaitTime(over);
        go.countDown();

        assertThat(this.handler.next().number()).isZero();
        Applications.await(() -> assertThat(this.queue.find("invoices", mortal.id())).isEmpty());
    }

    @Test
    void aSecondSendKeepsOrReplacesAsAsked() throws Exception {
        DelayedMessage first = DelayedMessage.builder("orders", new Order(1)).id("order:1").delay(FAR).build();
        Instant due = this.queue.send(first).dueAt();

        assertThat(this.queue.send(first.toBuilder().delay(Duration.ZERO).build()))
            .isEqualTo(new SendResult("orders", "order:1", due, SendOutcome.KEPT));
        SendResult replaced = this.queue.send(DelayedMessage.builder("orders", new Order(2))
            .id("order:1")
            .onDuplicate(OnDuplicate.REPLACE)
            .delay(Duration.ofMillis(30))
            .build());
        assertThat(replaced.outcome()).isEqualTo(SendOutcome.REPLACED);
        assertThat(this.handler.next().assertNotBefore(replaced.dueAt()).number()).isEqualTo(2);
    }

    @Test
    void aSendToAMessageThatIsBeingHandledFollowsIt() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        this.handler.does((order, delivery) -> go.await());
        DelayedMessage message = DelayedMessage.builder("orders", new Order(1)).id("order:1").build();
        this.queue.send(message);
        this.handler.next();

        SendResult follower = this.queue.send(DelayedMessage.builder("orders", new Order(2))
            .id("order:1")
            .onDuplicate(OnDuplicate.AFTER_CURRENT)
            .delay(Duration.ofMillis(100))
            .build());
        assertThat(follower.outcome()).isEqualTo(SendOutcome.AFTER_CURRENT);
        assertThat(this.queue.cancel("orders", "unknown")).isEqualTo(CancelResult.NOT_FOUND);
        go.countDown();
        assertThat(this.handler.next().assertNotBefore(follower.dueAt()).number()).isEqualTo(2);
    }

    @Test
    void headersArriveAndTheDeliveryKnowsItsMessage() throws Exception {
        SendResult sent = this.queue
            .send(DelayedMessage.builder("orders", new Order(1)).header("tenant", "blue").build());

        Handled handled = this.handler.next();
        assertThat(handled.headers()).containsEntry("tenant", "blue").containsEntry("delayqueue_id", sent.id());
        assertThat(handled.delivery().queue()).isEqualTo("orders");
    }

    @Test
    void aMessageCanBeReceivedByHand() {
        String id = this.queue.send("by-hand", new Order(1), FAR).id();
        assertThat(this.queue.receive("by-hand", Duration.ZERO)).isEmpty();
        assertThat(this.queue.reschedule("by-hand", id, Duration.ofMillis(100)))
            .isEqualTo(RescheduleResult.RESCHEDULED);
        Instant due = this.queue.find("by-hand", id).orElseThrow().dueAt();

        Optional<ReceivedMessage> received = this.queue.receive("by-hand", Applications.TIMEOUT);
        assertThat(received).isPresent();
        assertThat(received.get().payload(Order.class)).isEqualTo(new Order(1));
        assertThat(received.get().dueAt()).isEqualTo(due);
        assertThat(this.queue.statistics("by-hand")).isEqualTo(new QueueStatistics("by-hand", 0, 0, 1, 0, null));
        assertThat(received.get().acknowledge()).isTrue();
    }

    private void awaitTime(Instant time) {
        Applications.awaitTrue("it is " + time, () -> Applications.timeOf(redis.commands()).isAfter(time));
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Config {

        @Bean
        OrderHandler orderHandler() {
            return new OrderHandler();
        }

        /** Boot has no property for it. */
        @Bean
        static BeanPostProcessor connectionSharing(Environment environment) {
            boolean shared = environment.getProperty("test.share-native-connection", Boolean.class, true);
            return new BeanPostProcessor() {
                @Override
                public Object postProcessBeforeInitialization(Object bean, String name) throws BeansException {
                    if (bean instanceof LettuceConnectionFactory factory) {
                        factory.setShareNativeConnection(shared);
                    }
                    return bean;
                }
            };
        }

    }

}

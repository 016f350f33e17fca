package io.delayqueue.listener.handler;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import java.util.stream.Stream;

import ch.qos.logback.classic.Level;
import io.delayqueue.DeadLetterEvent;
import io.delayqueue.DelayedListenerErrorHandler;
import io.delayqueue.Delivery;
import io.delayqueue.ErrorDecision;
import io.delayqueue.HandlerTimeoutException;
import io.delayqueue.fixtures.LogCapture;
import io.delayqueue.fixtures.ManualNanoClock;
import io.delayqueue.listener.poll.ListenerStatistics;
import io.delayqueue.listener.poll.PollLoop;
import io.delayqueue.listener.poll.TestBed;
import io.delayqueue.observation.MessageObservations;
import io.delayqueue.store.CurrentMessageHolder;
import io.delayqueue.store.envelope.EnvelopeCodec;
import jakarta.validation.Valid;
import jakarta.validation.constraints.Positive;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.MDC;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.messaging.Message;
import org.springframework.validation.beanvalidation.LocalValidatorFactoryBean;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests batch listeners: a batch is what one claim brings, and each of its messages has a
 * lease and an end of its own (P4, P5, P6 and P9, message by message).
 */
class BatchListenerTests {

    private final TestBed bed = new TestBed();

    private final LogCapture log = new LogCapture();

    private final EnvelopeCodec codec = new EnvelopeCodec(JsonMapper.builder().build());

    /** The ids of the messages of each batch. */
    private final List<List<String>> batches = new ArrayList<>();

    @AfterEach
    void close() {
        this.log.close();
    }

    private void add(String... ids) {
        for (String id : ids) {
            this.bed.store.add(id, Duration.ZERO);
        }
    }

    private void handler(int size, BiConsumer<List<String>, List<Delivery>> handler) {
        this.bed.handler = factory().<String>createBatch(String.class, (payloads, deliveries) -> {
            this.batches.add(payloads);
            handler.accept(payloads, deliveries);
        }, size);
    }

    private HandlerMethodFactory factory() {
        LocalValidatorFactoryBean validator = new LocalValidatorFactoryBean();
        validator.afterPropertiesSet();
        return new HandlerMethodFactory(this.codec, validator, MessageObservations.NONE);
    }

    private MessageHandler method(Object bean) {
        return factory().createBatch(bean,
                Arrays.stream(bean.getClass().getDeclaredMethods())
                    .filter((method) -> method.getName().equals("handle"))
                    .findFirst()
                    .orElseThrow(),
                100);
    }

    private List<String> handle() {
        this.bed.handleOnce(this.bed.loop());
        return settlements();
    }

    private List<String> settlements() {
        return this.bed.store.calls.stream().filter((call) -> !call.startsWith("claim")).toList();
    }

    /** Returns the ids of each call of that name, sorted, as their order is not fixed. */
    private List<List<String>> idsOf(String name) {
        return this.bed.store.calls.stream()
            .filter((call) -> call.startsWith(name + " "))
            .map((call) -> Stream.of(call.substring(call.indexOf('[') + 1, call.indexOf(']')).split(", "))
                .sorted()
                .toList())
            .toList();
    }

    private ListenerStatistics statistics() {
        return this.bed.counters.snapshot();
    }

    @Test
    void oneClaimIsOneBatchAndOnePermit() {
        add("a", "b", "c");
        handler(100, (payloads, deliveries) -> {
        });
        PollLoop loop = this.bed.loop();
        TestBed.poll(loop);
        add("d");
        TestBed.poll(loop);
        assertThat(this.bed.store.calls).as("the only handler is taken").containsExactly("claim 100");

        this.bed.runHandlers();
        this.bed.settle(loop);
        this.bed.runHandlers();
        assertThat(this.batches).containsExactly(List.of("a", "b", "c"), List.of("d"));
        assertThat(settlements()).containsExactly("acknowledge [a, b, c]");
        assertThat(statistics()).isEqualTo(new ListenerStatistics(4, 0, 0, 0, 0, 0, 0, 0));
    }

    @Test
    void concurrencyCountsBatches() {
        this.bed.concurrency = 2;
        handler(3, (payloads, deliveries) -> {
        });
        add("a", "b", "c", "d", "e", "f", "g", "h");
        PollLoop loop = this.bed.loop();
        for (int i = 0; i < 5; i++) {
            TestBed.poll(loop);
        }

        assertThat(this.bed.store.calls).containsExactly("claim 3", "claim 3");
        this.bed.runHandlers();
        assertThat(this.batches).containsExactly(List.of("a", "b", "c"), List.of("d", "e", "f"));
    }

    @Test
    void elementsBelongTogetherByTheirIndex() {
        this.bed.store.add("a", Duration.ZERO,
                new String(this.codec.write("first", Map.of("tenant", "acme")), StandardCharsets.UTF_8));
        add("b");
        Lists bean = new Lists();
        this.bed.handler = method(bean);
        handle();

        assertThat(bean.seen).containsExactly("first a acme first", "b b null b");
    }

    @Test
    void aMessageThatCannotBeReadIsDeadLetteredAlone() {
        add("a");
        this.bed.store.add("broken", Duration.ZERO, "{\"v\":1,\"payload\":{\"no\":\"text\"}}");
        add("c");
        handler(100, (payloads, deliveries) -> {
        });

        assertThat(handle()).containsExactly("deadLetter broken", "acknowledge [a, c]");
        assertThat(this.batches).containsExactly(List.of("a", "c"));
        assertThat(this.bed.store.dead.get("broken~2").failed()).isFalse();
        assertThat(statistics()).isEqualTo(new ListenerStatistics(2, 0, 0, 1, 0, 0, 0, 0));
    }

    @Test
    void aPayloadThatIsNotValidIsDeadLetteredAlone() {
        this.bed.store.add("a", Duration.ZERO, "{\"v\":1,\"payload\":{\"number\":1}}");
        this.bed.store.add("b", Duration.ZERO, "{\"v\":1,\"payload\":{\"number\":-1}}");
        Orders bean = new Orders();
        this.bed.handler = method(bean);

        assertThat(handle()).containsExactly("deadLetter b", "acknowledge [a]");
        assertThat(bean.seen).containsExactly(new Order(1));
        assertThat(this.bed.store.dead.get("b~2").cause())
            .isEqualTo("The payload is not valid: number must be greater than 0");
    }

    @Test
    void messagesThatMustNotBeHandledAreSettledAlone() {
        add("a", "expired", "lapsed", "worn", "redelivered", "lost");
        this.bed.store.messages.get("expired").expiresAt = ManualNanoClock.START;
        this.bed.store.messages.get("lapsed").lapses = 3;
        this.bed.store.messages.get("worn").failures = 3;
        this.bed.store.messages.get("redelivered").redelivered = true;
        this.bed.store.messages.get("lost").redelivered = true;
        this.bed.store.during("start", () -> this.bed.store.messages.get("lost").token = "another");
        handler(100, (payloads, deliveries) -> {
        });

        assertThat(handle()).containsExactly("acknowledge [expired]", "deadLetter lapsed", "deadLetter worn",
                "start redelivered", "start lost", "acknowledge [a, redelivered]");
        assertThat(this.batches).containsExactly(List.of("a", "redelivered"));
        assertThat(statistics()).isEqualTo(new ListenerStatistics(2, 0, 0, 2, 1, 1, 2, 0));
    }

    @Test
    void isNotCalledIfNoMessageIsLeft() {
        this.bed.store.add("broken", Duration.ZERO, "{\"v\":1,\"payload\":{\"no\":\"text\"}}");
        handler(100, (payloads, deliveries) -> {
        });
        PollLoop loop = this.bed.loop();
        this.bed.handleOnce(loop);
        assertThat(this.batches).isEmpty();

        add("next");
        this.bed.handleOnce(loop);
        assertThat(this.batches).as("the permit is back").containsExactly(List.of("next"));
    }

    @Test
    void allUndecidedMessagesFailIfTheHandlerThrows() {
        add("a", "b", "c");
        this.bed.store.messages.get("b").failures = 2;
        handler(100, (payloads, deliveries) -> {
            throw new IllegalStateException("boom");
        });

        assertThat(handle()).containsExactly("retry a in PT1S", "deadLetter b", "retry c in PT1S");
        assertThat(this.bed.events)
            .containsExactly(new DeadLetterEvent("orders", "b", "b~2", 3, "java.lang.IllegalStateException: boom"));
        assertThat(statistics()).isEqualTo(new ListenerStatistics(0, 3, 2, 1, 0, 0, 0, 0));
    }

    @Test
    void aHandlerDecidesOnSingleMessages() {
        add("a", "b", "c", "d", "e");
        handler(100, (payloads, deliveries) -> {
            deliveries.get(1).fail(new IllegalStateException("boom"));
            deliveries.get(2).retryAfter(Duration.ofMinutes(1));
            deliveries.get(3).deadLetter("of no use");
        });

        assertThat(handle()).containsExactly("retry b in PT1S", "release [c] in PT1M", "deadLetter d",
                "acknowledge [a, e]");
        assertThat(statistics()).isEqualTo(new ListenerStatistics(4, 1, 1, 1, 0, 0, 0, 0));
        assertThat(this.log.lines(Level.WARN)).containsExactly("Message 'b' of queue 'orders' failed on attempt 1 "
                + "and is due again in 1 s: java.lang.IllegalStateException: boom");
    }

    @Test
    void decisionsStandIfTheHandlerThrows() {
        add("a", "b", "c", "d");
        handler(100, (payloads, deliveries) -> {
            deliveries.get(0).deadLetter("of no use");
            deliveries.get(1).retryAfter(Duration.ofMinutes(1));
            deliveries.get(2).fail(new IllegalArgumentException("its own"));
            throw new IllegalStateException("boom");
        });
        List<String> errors = new ArrayList<>();
        this.bed.errorHandler = (delivery, error) -> {
            errors.add(delivery.id() + " " + error.getMessage());
            return ErrorDecision.standard();
        };

        assertThat(handle()).containsExactly("deadLetter a", "release [b] in PT1M", "retry c in PT1S",
                "retry d in PT1S");
        assertThat(errors).containsExactly("c its own", "d boom");
    }

    /** A single message may be failed in the same way as one of a batch. */
    @Test
    void aHandlerOfSingleMessagesFailsThemWithoutThrowing() {
        add("a");
        this.bed.handler = factory().<String>create(String.class, (payload, delivery) -> {
            delivery.retryAfter(Duration.ofMinutes(1));
            delivery.fail(new IllegalStateException("boom"));
        });

        assertThat(handle()).containsExactly("retry a in PT1S");
        assertThat(statistics()).isEqualTo(new ListenerStatistics(0, 1, 1, 0, 0, 0, 0, 0));
    }

    @Test
    void anErrorHandlerDecidesOnEachMessage() {
        add("a", "b", "c");
        this.bed.errorHandler = errors(Map.of("a", ErrorDecision.release(Duration.ofSeconds(5)), "b",
                ErrorDecision.deadLetter("of no use"), "c", ErrorDecision.standard()));
        handler(100, (payloads, deliveries) -> {
            throw new IllegalStateException("boom");
        });

        assertThat(handle()).containsExactly("release [a] in PT5S", "deadLetter b", "retry c in PT1S");
    }

    private static DelayedListenerErrorHandler errors(Map<String, ErrorDecision> decisions) {
        return (delivery, error) -> decisions.get(delivery.id());
    }

    @Test
    void allLeasesAreRenewedInOneCallAndALostOneAffectsNoOther() {
        add("a", "b", "c");
        List<Boolean> leased = new ArrayList<>();
        handler(100, (payloads, deliveries) -> {
            this.bed.timer.advance(Duration.ofSeconds(11));
            this.bed.store.messages.get("b").token = "another";
            this.bed.timer.advance(Duration.ofSeconds(20));
            deliveries.forEach((delivery) -> leased.add(delivery.isLeased()));
        });
        PollLoop loop = this.bed.loop();
        loop.start(this.bed.store);
        this.bed.runHandlers();
        this.bed.settle(loop);

        assertThat(idsOf("extend")).startsWith(List.of("a", "b", "c"));
        assertThat(leased).containsExactly(true, false, true);
        assertThat(this.bed.store.messages).containsOnlyKeys("b");
        assertThat(statistics().leasesLost()).isOne();
    }

    @Test
    void aTimeoutFailsAllUndecidedMessages() {
        add("a", "b");
        this.bed.timeout = Duration.ofSeconds(5);
        List<Throwable> errors = new ArrayList<>();
        this.bed.errorHandler = (delivery, error) -> {
            errors.add(error);
            return ErrorDecision.standard();
        };
        boolean[] interrupted = { false };
        handler(100, (payloads, deliveries) -> {
            deliveries.get(0).deadLetter("of no use");
            this.bed.timer.advance(Duration.ofSeconds(5));
            interrupted[0] = Thread.interrupted();
            throw new IllegalStateException("interrupted");
        });

        assertThat(handle()).containsExactly("deadLetter a", "retry b in PT1S");
        assertThat(interrupted[0]).isTrue();
        assertThat(errors).singleElement().isInstanceOf(HandlerTimeoutException.class);
    }

    @Test
    void noLeaseOfABatchIsRenewedAfterItsTimeout() {
        add("a", "b");
        this.bed.timeout = Duration.ofSeconds(5);
        PollLoop[] loop = new PollLoop[1];
        handler(100, (payloads, deliveries) -> {
            this.bed.timer.advance(TestBed.LEASE.minusSeconds(1));
            // Otherwise the messages would be redelivered without end.
            loop[0].pause(true);
        });
        loop[0] = this.bed.loop();
        loop[0].start(this.bed.store);
        this.bed.runHandlers();

        assertThat(this.bed.store.count("extend")).isZero();
        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    void aBatchEndsWithTheFutureOfItsHandler() {
        add("a", "b", "c");
        Futures bean = new Futures();
        this.bed.handler = method(bean);
        PollLoop loop = this.bed.loop();
        this.bed.handleOnce(loop);
        add("d");
        TestBed.poll(loop);
        assertThat(settlements()).isEmpty();
        assertThat(this.bed.store.count("claim")).as("the batch holds its permit").isOne();

        bean.deliveries.get(1).fail(new IllegalStateException("boom"));
        bean.future.complete(null);
        this.bed.runHandlers();
        this.bed.settle(loop);
        assertThat(settlements()).containsExactly("retry b in PT1S", "acknowledge [a, c]");
        assertThat(this.bed.store.count("claim")).isEqualTo(2);
    }

    @Test
    void aStopReleasesABatchThatHasNotBegun() {
        add("a", "b");
        handler(100, (payloads, deliveries) -> {
        });
        PollLoop loop = this.bed.loop();
        loop.start(this.bed.store);
        loop.stop(Duration.ofSeconds(10));
        this.bed.runHandlers();

        assertThat(this.batches).isEmpty();
        assertThat(idsOf("release")).containsExactly(List.of("a", "b"));
        assertThat(loop.end()).as("no permit is missing").isDone();
    }

    @Test
    void aStopWaitsForABatchThatRuns() {
        add("a", "b");
        PollLoop[] loop = new PollLoop[1];
        handler(100, (payloads, deliveries) -> loop[0].stop(Duration.ofSeconds(10)));
        loop[0] = this.bed.loop();
        loop[0].start(this.bed.store);
        this.bed.runHandlers();

        assertThat(settlements()).contains("acknowledge [a, b]");
        assertThat(loop[0].end()).isDone();
    }

    /** P6: not a message of a batch starts after the end of its lease. */
    @Test
    void aBatchThatWaitsLongerThanItsLeasesIsReleased() {
        add("a", "b");
        handler(100, (payloads, deliveries) -> {
        });
        PollLoop loop = this.bed.loop();
        TestBed.poll(loop);
        this.bed.clock.advance(TestBed.LEASE);
        this.bed.runHandlers();

        assertThat(this.batches).isEmpty();
        assertThat(settlements()).containsExactly("release [a] as before", "release [b] as before");
    }

    @Test
    void theContextNamesTheQueueAndKnowsAllIds() {
        MDC.put("delayqueue.id", "outer");
        List<String> seen = new ArrayList<>();
        handler(100, (payloads, deliveries) -> {
            seen.add(MDC.get("delayqueue.queue") + " " + MDC.get("delayqueue.id"));
            payloads.forEach((id) -> assertThat(CurrentMessageHolder.is(TestBed.QUEUE.queue(), id)).as(id).isTrue());
        });
        try {
            add("a", "b");
            handle();
            add("c");
            handle();

            assertThat(seen).containsExactly("orders null", "orders c");
            assertThat(MDC.get("delayqueue.id")).isEqualTo("outer");
            assertThat(CurrentMessageHolder.is(TestBed.QUEUE.queue(), "c")).isFalse();
        }
        finally {
            MDC.remove("delayqueue.id");
        }
    }

    record Order(@Positive int number) {
    }

    static class Lists {

        final List<String> seen = new ArrayList<>();

        void handle(List<Delivery> deliveries, List<Message<String>> messages, List<String> payloads) {
            for (int i = 0; i < payloads.size(); i++) {
                this.seen.add("%s %s %s %s".formatted(payloads.get(i), deliveries.get(i).id(),
                        messages.get(i).getHeaders().get("tenant"), messages.get(i).getPayload()));
            }
        }

    }

    static class Orders {

        final List<Order> seen = new ArrayList<>();

        void handle(@Valid List<Order> orders) {
            this.seen.addAll(orders);
        }

    }

    static class Futures {

        final CompletableFuture<Void> future = new CompletableFuture<>();

        List<Delivery> deliveries = List.of();

        CompletableFuture<Void> handle(List<Delivery> deliveries) {
            this.deliveries = deliveries;
            return this.future;
        }

    }

}

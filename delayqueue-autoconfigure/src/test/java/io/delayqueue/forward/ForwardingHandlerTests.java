package io.delayqueue.forward;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.delayqueue.Delivery;
import io.delayqueue.QueueName;
import io.delayqueue.fixtures.ManualNanoClock;
import io.delayqueue.listener.handler.HandlerUnavailableException;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.Lease;
import io.delayqueue.store.Partition;
import io.delayqueue.store.envelope.EnvelopeCodec;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/** Tests how the answer of a broker decides about a message. */
class ForwardingHandlerTests {

    private final EnvelopeCodec codec = new EnvelopeCodec(JsonMapper.builder().build());

    private final Delivery delivery = mock(Delivery.class);

    private CompletableFuture<Object> confirmation = new CompletableFuture<>();

    private @Nullable ForwardedMessage forwarded;

    private Duration timeout = Duration.ofMinutes(1);

    @BeforeEach
    void createDelivery() {
        given(this.delivery.queue()).willReturn("orders");
        given(this.delivery.id()).willReturn("1");
        given(this.delivery.attempt()).willReturn(3);
        given(this.delivery.dueAt()).willReturn(Instant.EPOCH);
    }

    private ForwardingHandler handler() {
        return handler((message) -> {
            this.forwarded = message;
            return this.confirmation;
        });
    }

    private ForwardingHandler handler(MessageForwarder forwarder) {
        return new ForwardingHandler(this.codec, forwarder, new ForwardingHandler.Route("orders", "test:orders"),
                this.timeout, new ManualNanoClock());
    }

    private CompletableFuture<?> forward(ForwardingHandler handler) {
        ClaimedMessage message = new ClaimedMessage(new Lease(Partition.first(new QueueName("orders")), "1", "1"),
                Instant.EPOCH, 2, 0, false, null, "group",
                this.codec.write(Map.of("total", 1), Map.of("traceparent", "00-1", "delayqueue-attempt", "forged")),
                42);
        try {
            return handler.prepare(message, this.delivery).invoke(Runnable::run).toCompletableFuture();
        }
        catch (RuntimeException | Error ex) {
            throw ex;
        }
        catch (Throwable ex) {
            throw new IllegalStateException(ex);
        }
    }

    @Test
    void aMessageEndsWhenTheBrokerHasConfirmedIt() {
        CompletableFuture<?> end = forward(handler());
        assertThat(end).isNotDone();
        assertThat(this.forwarded).isNotNull();
        assertThat(this.forwarded.payload()).asString().isEqualTo("{\"total\":1}");
        assertThat(this.forwarded.brokerHeaders()).containsExactlyInAnyOrderEntriesOf(Map.of("traceparent", "00-1",
                "delayqueue-id", "1", "delayqueue-queue", "orders", "delayqueue-group", "group", "delayqueue-due",
                "1970-01-01T00:00:00Z", "delayqueue-attempt", "3", "delayqueue-revision", "42"));

        this.confirmation.complete("confirmed");
        assertThat(end).isCompleted();
    }

    @Test
    void anUnavailableBrokerMakesTheHandlerUnavailable() {
        ForwardingHandler handler = handler();
        CompletableFuture<?> end = forward(handler);
        assertThat(handler.claimLimit()).isOne();
        this.confirmation.completeExceptionally(new CompletionException(new BrokerUnavailableException("away", null)));

        assertThatThrownBy(end::join).hasCauseInstanceOf(HandlerUnavailableException.class);
        assertThat(handler.untilAvailable()).isEqualTo(Duration.ofSeconds(1));
        assertThatExceptionOfType(HandlerUnavailableException.class).isThrownBy(() -> forward(handler));
    }

    @Test
    void aBrokerThatDoesNotAnswerInTimeIsUnavailable() throws Exception {
        this.timeout = Duration.ofMillis(10);
        ForwardingHandler handler = handler();

        assertThatThrownBy(() -> forward(handler).get(1, TimeUnit.MINUTES))
            .hasCauseInstanceOf(HandlerUnavailableException.class)
            .hasRootCauseMessage("No confirmation within 10 ms")
            .isNotInstanceOf(TimeoutException.class);
        assertThat(handler.untilAvailable()).isPositive();
    }

    /** A call should not block; one that does must not hide that the broker is away. */
    @Test
    void theTimeoutCoversACallThatBlocks() {
        this.timeout = Duration.ofMillis(10);
        ForwardingHandler handler = handler((message) -> {
            // Real time: the timeout is over when the call returns.
            await().pollDelay(Duration.ofMillis(100)).until(() -> true);
            return CompletableFuture.completedFuture(null);
        });

        assertThatThrownBy(() -> forward(handler).join()).hasCauseInstanceOf(HandlerUnavailableException.class);
        assertThat(handler.untilAvailable()).isPositive();
    }

    /** Also an error must not leave the queue without a further probe. */
    @Test
    void aFailureOfOneMessageStopsNoOther() {
        ForwardingHandler handler = handler((message) -> {
            throw new NoClassDefFoundError("Gone");
        });
        for (int i = 0; i < 3; i++) {
            assertThatThrownBy(() -> forward(handler).join()).hasRootCauseInstanceOf(NoClassDefFoundError.class);
            assertThat(handler.untilAvailable()).isZero();
        }
    }

    @Test
    void anUndeliverableMessageFailsWithItsCause() {
        CompletableFuture<?> end = forward(handler());
        this.confirmation.completeExceptionally(new UndeliverableMessageException("no route", null));

        assertThatThrownBy(end::join).hasCauseInstanceOf(UndeliverableMessageException.class)
            .hasMessageContaining("no route");
    }

}

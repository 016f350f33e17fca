package io.delayqueue.observation;

import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import io.delayqueue.BatchSendException;
import io.delayqueue.DelayedMessage;
import io.delayqueue.Delivery;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/** Tests P8: observations, even failing ones, do not change the observed operation. */
class MessageObservationsTests {

    private static final DelayedMessage MESSAGE = DelayedMessage.builder("orders", "payload").build();

    private static final SendResult STORED = new SendResult("orders", "1", Instant.EPOCH, SendOutcome.values()[0]);

    private final AtomicInteger calls = new AtomicInteger();

    private final ObservationRegistry registry = ObservationRegistry.create();

    private MessageObservations broken(Broken broken) {
        if (broken == Broken.PREDICATE) {
            this.registry.observationConfig().observationPredicate((name, context) -> {
                throw new IllegalStateException("in predicate");
            });
        }
        this.registry.observationConfig().observationHandler(new Thrower(broken));
        return new MessageObservations(this.registry, null, null);
    }

    @ParameterizedTest
    @EnumSource(Broken.class)
    void aFailingObservationDoesNotFailASend(Broken broken) throws Exception {
        MessageObservations observations = broken(broken);

        assertThat(observations.send(MESSAGE, (message) -> answer())).isEqualTo(STORED);
        assertThat(observations.sendAsync(MESSAGE, (message) -> CompletableFuture.completedFuture(answer())).get())
            .isEqualTo(STORED);
        assertThat(observations.sendAll(List.of(MESSAGE), (messages) -> List.of(answer()))).containsExactly(STORED);
        assertThat(this.calls).hasValue(3);
        assertThat(this.registry.getCurrentObservationScope()).isNull();
    }

    @ParameterizedTest
    @EnumSource(Broken.class)
    void aFailingObservationDoesNotChangeAHandler(Broken broken) throws Throwable {
        MessageObservations observations = broken(broken);
        CompletableFuture<String> stage = new CompletableFuture<>();

        assertThat(observations.handle(List.of(delivery()), "l", List.of(Map.of()), () -> {
            this.calls.incrementAndGet();
            return null;
        })).isNull();
        assertThat(observations.handle(List.of(delivery()), "l", List.of(Map.of()), () -> {
            this.calls.incrementAndGet();
            return stage;
        })).isSameAs(stage);
        stage.complete("done");
        assertThatExceptionOfType(InterruptedException.class)
            .isThrownBy(() -> observations.handle(List.of(delivery()), "l", List.of(Map.of()), () -> {
                this.calls.incrementAndGet();
                throw new InterruptedException("the handler's own");
            }));
        assertThat(this.calls).hasValue(3);
        assertThat(this.registry.getCurrentObservationScope()).isNull();
    }

    @Test
    void anObservationThatRejectsAFailureIsStopped() {
        MessageObservations observations = broken(Broken.ERROR);
        AtomicInteger stopped = new AtomicInteger();
        onStop((context) -> stopped.incrementAndGet());

        assertThatExceptionOfType(IllegalArgumentException.class)
            .isThrownBy(() -> observations.send(MESSAGE, (message) -> {
                throw new IllegalArgumentException("the call's own");
            }))
            .withMessage("the call's own");
        assertThat(stopped).hasValue(1);
    }

    @Test
    void anErrorStopsTheObservationOfASend() {
        AtomicInteger stopped = new AtomicInteger();
        onStop((context) -> stopped.incrementAndGet());
        MessageObservations observations = new MessageObservations(this.registry, null, null);

        assertThatExceptionOfType(StackOverflowError.class).isThrownBy(() -> observations.send(MESSAGE, (message) -> {
            throw new StackOverflowError();
        }));
        assertThatExceptionOfType(StackOverflowError.class)
            .isThrownBy(() -> observations.sendAsync(MESSAGE, (message) -> {
                throw new StackOverflowError();
            }));
        assertThatExceptionOfType(StackOverflowError.class)
            .isThrownBy(() -> observations.sendAll(List.of(MESSAGE), (messages) -> {
                throw new StackOverflowError();
            }));
        assertThat(stopped).hasValue(3);
    }

    @Test
    void aFailedBatchFailsTheObservationsOfItsQueuesOnly() {
        Map<String, Boolean> failed = new HashMap<>();
        onStop((context) -> failed.put(((SendObservationContext) context).queue().value(), context.getError() != null));
        DelayedMessage refused = DelayedMessage.builder("refused", "payload").build();
        DelayedMessage unknown = DelayedMessage.builder("unknown", "payload").build();
        BatchSendException failure = new BatchSendException(List.of(STORED), List.of(refused), List.of(unknown),
                new IllegalStateException("the store's"));

        assertThatExceptionOfType(BatchSendException.class)
            .isThrownBy(() -> new MessageObservations(this.registry, null, null)
                .sendAll(List.of(MESSAGE, refused, unknown), (messages) -> {
                    throw failure;
                }))
            .isSameAs(failure);
        assertThat(failed).isEqualTo(Map.of("orders", false, "refused", true, "unknown", true));
    }

    private void onStop(Consumer<Observation.Context> action) {
        this.registry.observationConfig().observationHandler(new ObservationHandler<>() {
            @Override
            public void onStop(Observation.Context context) {
                action.accept(context);
            }

            @Override
            public boolean supportsContext(Observation.Context context) {
                return true;
            }
        });
    }

    private static Delivery delivery() {
        Delivery delivery = mock(Delivery.class);
        given(delivery.queue()).willReturn("orders");
        given(delivery.id()).willReturn("1");
        return delivery;
    }

    private SendResult answer() {
        this.calls.incrementAndGet();
        return STORED;
    }

    private enum Broken {

        PREDICATE, START, SCOPE_OPENED, SCOPE_CLOSED, ERROR, STOP

    }

    /** Throws at the configured point. */
    private static final class Thrower implements ObservationHandler<Observation.Context> {

        private final Broken where;

        Thrower(Broken where) {
            this.where = where;
        }

        private void at(Broken here) {
            if (here == this.where) {
                throw new IllegalStateException("in " + here);
            }
        }

        @Override
        public void onStart(Observation.Context context) {
            at(Broken.START);
        }

        @Override
        public void onScopeOpened(Observation.Context context) {
            at(Broken.SCOPE_OPENED);
        }

        @Override
        public void onScopeClosed(Observation.Context context) {
            at(Broken.SCOPE_CLOSED);
        }

        @Override
        public void onError(Observation.Context context) {
            at(Broken.ERROR);
        }

        @Override
        public void onStop(Observation.Context context) {
            at(Broken.STOP);
        }

        @Override
        public boolean supportsContext(Observation.Context context) {
            return true;
        }

    }

}

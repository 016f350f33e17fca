package io.delayqueue.listener.handler;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

import io.delayqueue.Delivery;
import io.delayqueue.listener.poll.TestBed;
import io.delayqueue.store.ClaimedMessage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that a message of a batch whose preparation or settlement breaks is left to its
 * lease, and affects no other message of the batch.
 */
class BatchIsolationTests {

    private final TestBed bed = new TestBed();

    private List<String> handle(BatchHandler handler) {
        this.bed.store.add("a", Duration.ZERO);
        this.bed.store.add("b", Duration.ZERO);
        this.bed.handler = handler;
        this.bed.handleOnce(this.bed.loop());
        return this.bed.store.calls.stream().filter((call) -> !call.startsWith("claim")).toList();
    }

    @Test
    void aMessageThatCannotBeSettledAffectsNoOther() {
        assertThat(handle(new BatchHandler((id) -> {
        }, new UnprintableException()))).containsExactly("acknowledge [b]");
        assertThat(this.bed.counters.snapshot().running()).isZero();
        assertThat(this.bed.store.messages).containsOnlyKeys("a");
    }

    @Test
    void aMessageThatCannotBeRejectedAffectsNoOther() {
        assertThat(handle(new BatchHandler((id) -> {
            if (id.equals("a")) {
                throw new UnprintableException();
            }
        }, null))).containsExactly("acknowledge [b]");
        assertThat(this.bed.counters.snapshot().running()).isZero();
        assertThat(this.bed.store.messages).containsOnlyKeys("a");
    }

    /** Fails message 'a' of each batch with the exception, if there is one. */
    private record BatchHandler(Consumer<String> preparation,
            @Nullable RuntimeException failure) implements MessageHandler {

        @Override
        public Call prepare(ClaimedMessage message, Delivery delivery) {
            this.preparation.accept(message.lease().id());
            return new Item(delivery);
        }

        @Override
        public boolean isBatch() {
            return true;
        }

        @Override
        public Call combine(List<Call> calls) {
            return (continuations) -> {
                for (Call call : calls) {
                    Delivery delivery = ((Item) call).delivery();
                    if (this.failure != null && delivery.id().equals("a")) {
                        delivery.fail(this.failure);
                    }
                }
                return null;
            };
        }

    }

    private record Item(Delivery delivery) implements MessageHandler.Call {

        @Override
        public @Nullable CompletionStage<?> invoke(Executor continuations) {
            throw new IllegalStateException("handled with the batch");
        }

    }

    private static final class UnprintableException extends RuntimeException {

        @Override
        public String getMessage() {
            throw new UnsupportedOperationException("an exception without a message");
        }

    }

}

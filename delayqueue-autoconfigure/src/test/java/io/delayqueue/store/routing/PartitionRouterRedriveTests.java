package io.delayqueue.store.routing;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.MessageLimits;
import io.delayqueue.NotReplicatedException;
import io.delayqueue.QueueName;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.store.MessageInspector;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.PartitionLayout;
import io.delayqueue.store.PartitionLayoutStore;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.then;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;

/**
 * P1: the answer to a redrive in a partitioned queue states its effect, whichever of the
 * two steps fails.
 */
class PartitionRouterRedriveTests {

    private static final QueueName QUEUE = new QueueName("q");

    private static final NewMessage MESSAGE = NewMessage.of("a-letter", MessageLimits.NORMAL_PRIORITY, null, null,
            "{}".getBytes(StandardCharsets.UTF_8));

    private final MessageStore store = mock();

    private final MessageInspector inspector = mock();

    private final PartitionLayoutStore records = mock();

    private final PartitionRouter router = new PartitionRouter(new StoreComponents(this.store, this.inspector, mock(),
            new PartitionLayouts(this.records, (queue) -> 0, () -> 0)));

    @BeforeEach
    void storeADeadLetter() {
        given(this.records.read(any()))
            .willReturn(CompletableFuture.completedFuture(Optional.of(new PartitionLayout(2, List.of(2), true))));
        given(this.inspector.deadLetteredMessage(any(), any()))
            .willReturn(CompletableFuture.completedFuture(Optional.of(MESSAGE)));
        given(this.inspector.find(any(), any())).willReturn(CompletableFuture.completedFuture(Optional.empty()));
        given(this.store.schedule(any(), any())).willReturn(CompletableFuture
            .completedFuture(List.of(new SendResult(QUEUE.value(), MESSAGE.id(), null, SendOutcome.SCHEDULED))));
        given(this.store.removeRedriven(any(), any())).willReturn(CompletableFuture.completedFuture(true));
    }

    @Test
    void aDeadLetterThatCannotBeRemovedIsNotReportedAsUnchanged() {
        given(this.store.removeRedriven(any(), any()))
            .willReturn(CompletableFuture.failedFuture(new StoreRefusedException("NOPERM", Effect.NONE, null)));

        assertRedriveFails(StoreUnavailableException.class, Effect.UNKNOWN);
    }

    @Test
    void aMessageThatTooFewReplicasHaveHasNoDeadLetter() {
        given(this.store.schedule(any(), any()))
            .willReturn(CompletableFuture.failedFuture(new NotReplicatedException("stored", null)));

        assertRedriveFails(NotReplicatedException.class, Effect.STORED);

        then(this.store).should().removeRedriven(any(), any());
    }

    @Test
    void aMessageThatIsRejectedKeepsItsDeadLetter() {
        given(this.store.schedule(any(), any())).willReturn(
                CompletableFuture.failedFuture(new StoreUnavailableException("no answer", Effect.UNKNOWN, null)));

        assertRedriveFails(StoreUnavailableException.class, Effect.UNKNOWN);

        then(this.store).should(never()).removeRedriven(any(), any());
    }

    private void assertRedriveFails(Class<? extends DelayQueueException> type, Effect effect) {
        assertThatThrownBy(() -> this.router.redrive(QUEUE, "a-letter").join()).cause()
            .isInstanceOfSatisfying(type, (failure) -> assertThat(failure.effect()).isEqualTo(effect));
    }

}

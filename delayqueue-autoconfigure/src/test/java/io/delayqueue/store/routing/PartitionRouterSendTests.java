package io.delayqueue.store.routing;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.QueueName;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.PartitionLayout;
import io.delayqueue.store.PartitionLayoutStore;
import io.delayqueue.store.StaleLayoutException;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.then;
import static org.mockito.Mockito.mock;

/** P1: a send that learns of another layout by a rejection follows that. */
class PartitionRouterSendTests {

    private static final QueueName QUEUE = new QueueName("q");

    private static final NewMessage MESSAGE = NewMessage.of("a", DueTime.NOW, "{}".getBytes(StandardCharsets.UTF_8));

    private static final PartitionLayout LEDGER = new PartitionLayout(2, List.of(2), true, null, true);

    private final MessageStore store = mock();

    private final PartitionLayoutStore records = mock();

    private final PartitionRouter router = new PartitionRouter(
            new StoreComponents(this.store, mock(), mock(), new PartitionLayouts(this.records, (queue) -> 0, () -> 0)));

    /** A message without a row would not be restored after a loss. */
    @Test
    void aQueueThatBecameALedgerRejectsASendWithoutTheJournal() {
        given(this.records.read(any())).willReturn(recorded(new PartitionLayout(1, List.of(2), true)))
            .willReturn(recorded(LEDGER));
        given(this.store.schedule(any(), any()))
            .willReturn(CompletableFuture.failedFuture(new StoreUnavailableException("The partitions were changed",
                    Effect.NONE, new StaleLayoutException("DQSTALE", LEDGER))))
            .willReturn(CompletableFuture
                .completedFuture(List.of(new SendResult(QUEUE.value(), "a", null, SendOutcome.SCHEDULED))));

        assertThatThrownBy(() -> this.router.schedule(QUEUE, MESSAGE).join()).cause()
            .isInstanceOfSatisfying(StoreRefusedException.class, (failure) -> {
                assertThat(failure.effect()).isEqualTo(Effect.NONE);
                assertThat(failure).hasMessageStartingWith("Queue 'q' is a ledger");
            });

        then(this.store).should().schedule(any(), any());
    }

    private static CompletableFuture<Optional<PartitionLayout>> recorded(PartitionLayout layout) {
        return CompletableFuture.completedFuture(Optional.of(layout));
    }

}

package io.delayqueue.migrate.engine;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.migrate.MigrationSource;
import io.delayqueue.migrate.SourceEntry;
import io.delayqueue.migrate.SourceInUseException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.mockito.InOrder;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.willDoNothing;
import static org.mockito.BDDMockito.willThrow;
import static org.mockito.Mockito.inOrder;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;

/** Tests that a run works on queues that are reserved for it, and on no others. */
class ReservedQueueTests {

    private final MigrationSource source = mock();

    private final DelayQueueOperations target = mock();

    private final List<Duration> pauses = new ArrayList<>();

    private boolean stopsAtAPause;

    private final StopSignal stop = new StopSignal() {

        @Override
        public void pause(Duration time) {
            ReservedQueueTests.this.pauses.add(time);
            if (ReservedQueueTests.this.stopsAtAPause) {
                stop();
            }
        }

    };

    @BeforeEach
    void addQueue() {
        given(this.source.queues()).willReturn(List.of("orders"));
    }

    @Test
    void aRunThatIsStoppedWhileItWaitsForAnotherProcessChangesNothing() {
        willThrow(new SourceInUseException("orders")).given(this.source).own("orders");
        this.stopsAtAPause = true;

        migration().copy();

        assertThat(this.pauses).hasSize(1);
        verify(this.source, never()).reopen(any(), any());
        verify(this.source, never()).take(any(), any(), anyInt());
    }

    /** A reservation ends after ten seconds. */
    @Test
    void aQueueStaysReservedDuringALongPause() {
        Duration poll = Duration.ofSeconds(12);

        migration().follow(poll, poll.multipliedBy(2));

        assertThat(this.pauses.stream().reduce(Duration.ZERO, Duration::plus)).isEqualTo(poll);
        assertThat(this.pauses).allMatch((pause) -> pause.toSeconds() <= 5);
        InOrder order = inOrder(this.source);
        order.verify(this.source).own("orders");
        order.verify(this.source).take(eq("orders"), any(), anyInt());
        order.verify(this.source, times(2)).own("orders");
        order.verify(this.source).take(eq("orders"), any(), anyInt());
    }

    /**
     * Another process may have taken the queue over while the target was away, and sent
     * the entries.
     */
    @Test
    void aSendIsRepeatedOnlyWhileTheQueueIsReserved() {
        given(this.source.take(eq("orders"), any(), anyInt()))
            .willReturn(List.of(SourceEntry.of("1", Instant.EPOCH, new byte[0])));
        given(this.target.sendAll(any())).willThrow(new StoreUnavailableException("away", Effect.NONE, null));
        willDoNothing().willThrow(new SourceInUseException("orders")).given(this.source).own("orders");

        assertThatExceptionOfType(SourceInUseException.class).isThrownBy(() -> migration().copy());

        verify(this.target, times(1)).sendAll(any());
    }

    private Migration migration() {
        return new Migration(this.source, this.target, (entry) -> "", JsonMapper.builder().build(),
                new Migration.Settings(QueueMapping.of(List.of()), new MoveRate(1, 0, () -> 0), this.stop,
                        (queue, number) -> {
                        }, () -> 0));
    }

}

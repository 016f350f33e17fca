package io.delayqueue.migrate.engine;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.migrate.MigrationSource;
import io.delayqueue.migrate.SourceEntry;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyString;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/** Tests that a run takes no more entries than its rate permits. */
class RateTests {

    private static final int ENTRIES = 1_000;

    /** The times of the takes that found entries, in milliseconds. */
    private final List<Long> takes = new ArrayList<>();

    private int taken;

    private long now;

    /** Pauses by moving the clock. */
    private final StopSignal stop = new StopSignal() {

        @Override
        public void pause(Duration time) {
            RateTests.this.now += time.toNanos();
        }

    };

    @Test
    void batchesAreTakenAsFarApartAsTheRateDemands() {
        Map<String, Migration.QueueMoves> moves = copy(100, 200);

        assertThat(moves.get("orders").sent()).isEqualTo(ENTRIES);
        assertThat(this.takes).containsExactly(0L, 500L, 1_000L, 1_500L, 2_000L, 2_500L, 3_000L, 3_500L, 4_000L,
                4_500L);
    }

    @Test
    void withoutARateNoBatchWaits() {
        copy(100, 0);

        assertThat(this.takes).hasSize(10).containsOnly(0L);
    }

    private Map<String, Migration.QueueMoves> copy(int batch, int rate) {
        MigrationSource source = mock(MigrationSource.class);
        given(source.queues()).willReturn(List.of("orders"));
        given(source.take(eq("orders"), anyString(), anyInt()))
            .willAnswer((call) -> take(call.getArgument(1), call.getArgument(2)));
        DelayQueueOperations queues = mock(DelayQueueOperations.class);
        given(queues.sendAll(any())).willAnswer((call) -> {
            List<?> messages = call.getArgument(0);
            return messages.stream()
                .map((message) -> new SendResult("orders", "x", null, SendOutcome.SCHEDULED))
                .toList();
        });
        return new Migration(source, queues, (entry) -> "text", JsonMapper.builder().build(), new Migration.Settings(
                QueueMapping.of(List.of()), new MoveRate(batch, rate, () -> this.now), this.stop, (queue, number) -> {
                }, () -> this.now))
            .copy();
    }

    private List<SourceEntry> take(String batch, int limit) {
        List<SourceEntry> entries = new ArrayList<>();
        while (entries.size() < limit && this.taken < ENTRIES) {
            this.taken++;
            entries.add(SourceEntry.of(batch + "-" + (entries.size() + 1), Instant.EPOCH, new byte[0]));
        }
        if (!entries.isEmpty()) {
            this.takes.add(Duration.ofNanos(this.now).toMillis());
        }
        return entries;
    }

}

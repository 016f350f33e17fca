package io.delayqueue.template;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import io.delayqueue.CauseGroup;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.QueueName;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.admin.DeadLetterCauses;
import io.delayqueue.admin.DeadLetterSummary;
import io.delayqueue.store.DeadLetterSummaryPage;
import io.delayqueue.store.Partition;
import io.delayqueue.store.QueueInspector;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;

/** Checks how many dead letters are grouped, in how many calls. */
class QueueScannerTests {

    private static final QueueName QUEUE = new QueueName("orders");

    private static final Instant BEGIN = Instant.parse("2030-01-01T00:00:00Z");

    private final QueueInspector inspector = mock();

    private final QueueScanner scanner = new QueueScanner(this.inspector,
            new BlockingStoreCalls(Duration.ofMinutes(1)));

    /** Returns a dead letter. The higher its number, the later it was dead-lettered. */
    private static DeadLetterSummaryPage.SummaryWithCause summary(int number) {
        return new DeadLetterSummaryPage.SummaryWithCause(
                new DeadLetterSummary(QUEUE.value(), number + "~1", "" + number, BEGIN.plusSeconds(number)),
                (number % 4 == 0) ? "com.example.Timeout: order " + number : "com.example.Timeout: refused");
    }

    /** Fills a partition; the latest dead letter comes first. */
    private void fill(Partition partition, int deadLetters) {
        given(this.inspector.deadLetterSummaries(eq(partition), any(), anyInt())).willAnswer((call) -> CompletableFuture
            .completedFuture(page(deadLetters, call.getArgument(1), call.getArgument(2))));
    }

    private static DeadLetterSummaryPage page(int deadLetters, @Nullable String cursor, int limit) {
        int from = (cursor != null) ? Integer.parseInt(cursor) : deadLetters;
        int last = Math.max(0, from - limit);
        return new DeadLetterSummaryPage(
                IntStream.iterate(from, (i) -> i > last, (i) -> i - 1).mapToObj(QueueScannerTests::summary).toList(),
                (last > 0) ? "" + last : null);
    }

    private static Partition partition(int index) {
        return new Partition(QUEUE, index);
    }

    @Test
    void groupsTheLatestTenThousandDeadLettersInAHundredCalls() {
        fill(partition(0), 10_050);

        DeadLetterCauses causes = this.scanner.causes(QUEUE, List.of(partition(0)), false);

        assertThat(causes).isEqualTo(new DeadLetterCauses(QUEUE.value(),
                List.of(new DeadLetterCauses.Count(CauseGroup.of("com.example.Timeout: refused"), 7_500,
                        BEGIN.plusSeconds(51), BEGIN.plusSeconds(10_050), "10050~1"),
                        new DeadLetterCauses.Count(CauseGroup.of("com.example.Timeout: order 1"), 2_500,
                                BEGIN.plusSeconds(52), BEGIN.plusSeconds(10_048), "10048~1")),
                10_000, false));
        verify(this.inspector, times(100)).deadLetterSummaries(eq(partition(0)), any(), eq(100));
    }

    @Test
    void groupsByTypeWithoutTheText() {
        fill(partition(0), 150);

        assertThat(this.scanner.causes(QUEUE, List.of(partition(0)), true)).isEqualTo(new DeadLetterCauses(
                QUEUE.value(), List.of(new DeadLetterCauses.Count(CauseGroup.ofType("com.example.Timeout"), 150,
                        BEGIN.plusSeconds(1), BEGIN.plusSeconds(150), "150~1")),
                150, true));
    }

    @Test
    void takesAsManyOfEachPartition() {
        fill(partition(0), 6_000);
        fill(partition(1), 20);

        DeadLetterCauses causes = this.scanner.causes(QUEUE, List.of(partition(0), partition(1)), true);

        assertThat(causes.examined()).isEqualTo(5_020);
        assertThat(causes.complete()).isFalse();
        assertThat(causes.causes().get(0).firstAt()).isEqualTo(BEGIN.plusSeconds(1));
        verify(this.inspector, times(50)).deadLetterSummaries(eq(partition(0)), any(), eq(100));
    }

    /** Counts of a part would look like those of all. */
    @Test
    void aFailureInTheMiddleEndsTheWalk() {
        given(this.inspector.deadLetterSummaries(eq(partition(0)), any(), anyInt()))
            .willAnswer((call) -> "5050".equals(call.getArgument(1))
                    ? CompletableFuture.failedFuture(new StoreUnavailableException("away", Effect.NONE, null))
                    : CompletableFuture.completedFuture(page(10_050, call.getArgument(1), call.getArgument(2))));

        assertThatExceptionOfType(StoreUnavailableException.class)
            .isThrownBy(() -> this.scanner.causes(QUEUE, List.of(partition(0)), false));
        verify(this.inspector, times(1)).deadLetterSummaries(partition(0), "5050", 100);
    }

}

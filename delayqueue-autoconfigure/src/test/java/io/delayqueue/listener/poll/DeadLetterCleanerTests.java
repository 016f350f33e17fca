package io.delayqueue.listener.poll;

import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the removal of old dead letters. */
class DeadLetterCleanerTests {

    @Test
    void removesOldDeadLettersInBatchesUntilNoneIsLeftAndComesAgain() {
        TestBed bed = new TestBed();
        PollLoopContext context = bed.with()
            .executor(Runnable::run)
            .settings(new SharedListenerSettings(Duration.ZERO, Duration.ofSeconds(5), Duration.ofDays(7), false,
                    HandlerExecution.DEFAULT))
            .build();
        bed.store.purged.addAll(List.of(100, 100, 3));
        DeadLetterCleaner cleaner = new DeadLetterCleaner(context);
        cleaner.add(TestBed.QUEUE.queue());
        cleaner.add(TestBed.QUEUE.queue());
        bed.timer.advance(Duration.ofSeconds(40));
        assertThat(bed.store.calls).isEmpty();

        bed.timer.advance(Duration.ofSeconds(40));
        assertThat(bed.store.calls).hasSize(3).containsOnly("purgeOlderThan orders PT168H");
        bed.store.fail("purgeOlderThan");
        bed.timer.advance(Duration.ofMinutes(75));
        assertThat(bed.store.calls).hasSize(4);
        bed.timer.advance(Duration.ofMinutes(75));
        assertThat(bed.store.calls.size()).isGreaterThan(4);

        cleaner.remove(TestBed.QUEUE.queue());
        assertThat(bed.timer.isEmpty()).isTrue();
    }

    @Test
    void keepsThemForeverWithoutARetention() {
        TestBed bed = new TestBed();
        new DeadLetterCleaner(bed.context).add(TestBed.QUEUE.queue());
        assertThat(bed.timer.isEmpty()).isTrue();
    }

}

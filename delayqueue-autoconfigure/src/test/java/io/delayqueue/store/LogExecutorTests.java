package io.delayqueue.store;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests that a slow appender does not block the caller. */
@ExtendWith(OutputCaptureExtension.class)
class LogExecutorTests {

    private final LogExecutor log = new LogExecutor();

    private final List<Integer> written = new ArrayList<>();

    @Test
    void writesInOrderWhatWasThereBeforeItIsClosed() {
        for (int i = 0; i < 100; i++) {
            int line = i;
            this.log.execute(() -> this.written.add(line));
        }
        this.log.close();

        assertThat(this.written).hasSize(100).isSorted();
        this.log.execute(() -> this.written.add(-1));
        assertThat(this.written).hasSize(100);
    }

    @Test
    void leavesOutAndCountsWhatIsTooMuch(CapturedOutput output) throws Exception {
        CountDownLatch writing = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        this.log.execute(() -> {
            writing.countDown();
            awaitQuietly(go);
        });
        assertThat(writing.await(1, TimeUnit.MINUTES)).isTrue();

        for (int i = 0; i < 1_500; i++) {
            int line = i;
            this.log.execute(() -> this.written.add(line));
        }
        go.countDown();

        Awaitility.await().until(() -> output.getAll().contains("500 log lines of the delay queue were left out"));
        this.log.close();
        assertThat(this.written).hasSize(1_000).isSorted();
    }

    @Test
    void aLineThatFailsDoesNotEndIt() {
        this.log.execute(() -> {
            throw new IllegalStateException("of a test");
        });
        this.log.execute(() -> this.written.add(1));
        this.log.close();

        assertThat(this.written).containsExactly(1);
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await(1, TimeUnit.MINUTES);
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }

}

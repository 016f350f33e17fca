package io.delayqueue.listener.poll;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the timer of the process. */
class TimerThreadTests {

    @Test
    void continuesAfterATaskThatThrows() throws Exception {
        TimerThread timer = new TimerThread();
        CountDownLatch runs = new CountDownLatch(3);
        timer.every(Duration.ofMillis(1), () -> {
            runs.countDown();
            throw new IllegalStateException("boom");
        });
        assertThat(runs.await(30, TimeUnit.SECONDS)).isTrue();
        timer.close();
        timer.after(Duration.ZERO, runs::countDown).run();
    }

    @Test
    void doesNotRunCancelledTasks() throws Exception {
        TimerThread timer = new TimerThread();
        CountDownLatch allCreated = new CountDownLatch(1);
        CountDownLatch ran = new CountDownLatch(1);
        boolean[] cancelled = { false };
        // Its thread is busy until the task is cancelled, however slow the machine is.
        timer.after(Duration.ZERO, () -> awaitQuietly(allCreated));
        timer.after(Duration.ofMillis(1), () -> cancelled[0] = true).run();
        timer.after(Duration.ofMillis(2), ran::countDown);
        allCreated.countDown();
        assertThat(ran.await(30, TimeUnit.SECONDS)).isTrue();
        assertThat(cancelled[0]).isFalse();
        timer.close();
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await(30, TimeUnit.SECONDS);
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }

}

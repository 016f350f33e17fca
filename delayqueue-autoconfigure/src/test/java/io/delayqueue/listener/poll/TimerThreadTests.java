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
        CountDownLatch ran = new CountDownLatch(1);
        boolean[] cancelled = { false };
        timer.after(Duration.ofMillis(20), () -> cancelled[0] = true).run();
        timer.after(Duration.ofMillis(40), ran::countDown);
        assertThat(ran.await(30, TimeUnit.SECONDS)).isTrue();
        assertThat(cancelled[0]).isFalse();
        timer.close();
    }

}

package io.delayqueue.test;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;

import io.delayqueue.DelayedListener;
import io.delayqueue.test.WrongHandlerTests.WrongHandlers;
import io.delayqueue.test.autoconfigure.DelayQueueTest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Verifies that a test of five lines finds a common mistake of a handler. The tests show
 * how; each asserts the failure that such a test would report. {@code QuietTimeoutTests}
 * has the handlers that never end.
 */
@DelayQueueTest
@Import(WrongHandlers.class)
class WrongHandlerTests extends TesterCase {

    @Autowired
    private WrongHandlers handlers;

    @BeforeEach
    void reset() {
        this.handlers.refunds = 0;
        this.handlers.end = new CountDownLatch(1);
    }

    @AfterEach
    void endHandlers() {
        this.handlers.end.countDown();
    }

    @Test
    @DeliverTwice
    void handlerThatIsNotIdempotent() {
        this.queue.send("refund", "customer-42", Duration.ZERO);
        this.tester.drain();
        assertThatExceptionOfType(AssertionError.class)
            .isThrownBy(() -> assertThat(this.handlers.refunds).isEqualTo(1));
    }

    @Test
    void handlerThatExceedsItsTimeout() {
        this.queue.send("slow", "slow-1", "report", Duration.ZERO);
        Deliveries deliveries = this.tester.whileHandling("slow-1").advance(Duration.ofMinutes(1));
        assertThatExceptionOfType(AssertionError.class)
            .isThrownBy(() -> assertThat(deliveries).hasSucceeded(1).hasNoOthers())
            .withMessageContaining("HandlerTimeoutException");
    }

    static class WrongHandlers {

        private volatile int refunds;

        private volatile CountDownLatch end = new CountDownLatch(1);

        @DelayedListener("refund")
        void refund(String customer) {
            this.refunds = this.refunds + 1;
        }

        @DelayedListener(queues = "slow", timeout = "1m")
        void slow(String report) throws InterruptedException {
            this.end.await();
        }

    }

}

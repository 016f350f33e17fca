package io.delayqueue.test;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
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
 * Verifies that a test of five lines finds each common mistake of a handler. The tests
 * show how; each asserts the failure that such a test would report.
 */
@DelayQueueTest(properties = "delayqueue.test.quiet-timeout=1s")
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

    @Test
    void handlerThatSwallowsInterrupts() {
        this.queue.send("stubborn", "stubborn-1", "report", Duration.ZERO);
        assertThatExceptionOfType(AssertionError.class)
            .isThrownBy(() -> this.tester.whileHandling("stubborn-1").advance(Duration.ofMinutes(2)))
            .withMessageContaining("WrongHandlers.stubborn' handles")
            .withMessageContaining(
                    "it was interrupted, as its timeout was over, and runs on: it swallows the interrupt")
            .withMessageContaining("WrongHandlers.stubborn(WrongHandlerTests.java:");
    }

    @Test
    void handlerThatNeverCompletesItsFuture() {
        this.queue.send("forgetful", "report", Duration.ZERO);
        assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> this.tester.drain())
            .withMessageContaining("WrongHandlers.forgetful' handles")
            .withMessageContaining("it has returned a future that is not complete");
    }

    @Test
    void handlerThatDoesNotReturn() {
        this.queue.send("endless", "report", Duration.ZERO);
        assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> this.tester.drain())
            .withMessageStartingWith("Not all is quiet at %s: nothing has ended for 1 s.", this.start)
            .withMessageContaining("WrongHandlers.endless' handles")
            .withMessageContaining("WrongHandlers.endless(WrongHandlerTests.java:")
            .withMessageContaining("set delayqueue.test.quiet-timeout");
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

        @DelayedListener(queues = "stubborn", timeout = "1m")
        void stubborn(String report) {
            while (this.end.getCount() > 0) {
                try {
                    this.end.await();
                }
                catch (InterruptedException ex) {
                    // Swallows the interrupt.
                }
            }
        }

        @DelayedListener("forgetful")
        CompletableFuture<Void> forgetful(String report) {
            return new CompletableFuture<>();
        }

        @DelayedListener("endless")
        void endless(String report) throws InterruptedException {
            this.end.await();
        }

    }

}

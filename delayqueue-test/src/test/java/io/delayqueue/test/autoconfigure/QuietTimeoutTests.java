package io.delayqueue.test.autoconfigure;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedListener;
import io.delayqueue.test.DelayQueueTester;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.context.ContextConfiguration;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Verifies that a call fails and names the handler that has not ended in time. */
@DelayQueueTest(properties = "delayqueue.test.quiet-timeout=1s")
@ContextConfiguration(classes = QuietTimeoutTests.EndlessHandlers.class)
class QuietTimeoutTests {

    @Autowired
    private DelayQueueTester tester;

    @Autowired
    private DelayQueueOperations queue;

    @Autowired
    private EndlessHandlers handlers;

    @BeforeEach
    void reset() {
        this.handlers.end = new CountDownLatch(1);
    }

    @AfterEach
    void endHandlers() {
        this.handlers.end.countDown();
    }

    @Test
    void handlerThatSwallowsInterrupts() {
        this.queue.send("stubborn", "stubborn-1", "report", Duration.ZERO);
        assertThatExceptionOfType(AssertionError.class)
            .isThrownBy(() -> this.tester.whileHandling("stubborn-1").advance(Duration.ofMinutes(2)))
            .withMessageContaining("EndlessHandlers.stubborn' handles")
            .withMessageContaining(
                    "it was interrupted, as its timeout was over, and runs on: it swallows the interrupt")
            .withMessageContaining("EndlessHandlers.stubborn(QuietTimeoutTests.java:");
    }

    @Test
    void handlerThatNeverCompletesItsFuture() {
        this.queue.send("forgetful", "report", Duration.ZERO);
        assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> this.tester.drain())
            .withMessageContaining("EndlessHandlers.forgetful' handles")
            .withMessageContaining("it has returned a future that is not complete");
    }

    @Test
    void handlerThatDoesNotReturn() {
        Instant start = this.tester.now();
        this.queue.send("endless", "report", Duration.ZERO);
        assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> this.tester.drain())
            .withMessageStartingWith("Not all is quiet at %s: nothing has ended for 1 s.", start)
            .withMessageContaining("EndlessHandlers.endless' handles")
            .withMessageContaining("EndlessHandlers.endless(QuietTimeoutTests.java:")
            .withMessageContaining("set delayqueue.test.quiet-timeout");
    }

    @Configuration(proxyBeanMethods = false)
    static class EndlessHandlers {

        private volatile CountDownLatch end = new CountDownLatch(1);

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

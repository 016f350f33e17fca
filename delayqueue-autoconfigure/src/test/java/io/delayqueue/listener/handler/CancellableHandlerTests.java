package io.delayqueue.listener.handler;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import ch.qos.logback.classic.Level;
import io.delayqueue.fixtures.LogCapture;
import io.delayqueue.listener.poll.PollLoop;
import io.delayqueue.listener.poll.TestBed;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscription;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Verifies handlers that continue after they have returned and can be cancelled: the
 * permit returns when they end, and the first reason decides on the message.
 */
class CancellableHandlerTests {

    private final TestBed bed = new TestBed();

    private final Stage stage = new Stage();

    private final LogCapture log = new LogCapture();

    private PollLoop loop;

    @BeforeEach
    void begin() {
        this.bed.timeout = Duration.ofSeconds(45);
        this.bed.handler = (message, delivery) -> (continuations) -> this.stage;
        this.bed.store.add("m", Duration.ZERO);
        this.loop = this.bed.loop();
        this.loop.start(this.bed.store);
        this.bed.runHandlers();
    }

    @AfterEach
    void close() {
        this.log.close();
    }

    @Test
    void aTimeoutCancelsAndFailsTheAttemptWhenTheHandlingHasEnded() {
        this.bed.timer.advance(Duration.ofSeconds(46));
        this.bed.runHandlers();
        assertThat(this.stage.cancellations).isOne();
        assertThat(this.bed.counters.snapshot().running()).as("the handler still runs").isOne();
        assertThat(this.bed.store.count("retry")).isZero();

        this.stage.completeExceptionally(new IllegalStateException("cancelled"));
        this.bed.runHandlers();
        assertThat(this.bed.counters.snapshot().running()).isZero();
        assertThat(this.bed.store.count("retry")).isOne();
        assertThat(this.log.lines(Level.WARN)).anyMatch((line) -> line.contains("HandlerTimeoutException"));
    }

    @Test
    void aLostLeaseCancelsAndTheAttemptDoesNotCount() {
        this.bed.store.messages.remove("m");
        this.bed.timer.advance(TestBed.LEASE.dividedBy(2));
        this.bed.runHandlers();
        assertThat(this.stage.cancellations).isOne();

        this.stage.completeExceptionally(new IllegalStateException("cancelled"));
        this.bed.runHandlers();
        assertThat(this.bed.store.count("retry")).isZero();
        assertThat(this.bed.counters.snapshot().failed()).isZero();
        assertThat(this.bed.counters.snapshot().running()).isZero();
        assertThat(this.log.lines(Level.WARN))
            .anyMatch((line) -> line.contains("was cancelled after the end of its lease on attempt 1"));
    }

    @Test
    void aLeaseThatIsRenewedCancelsNothing() {
        this.bed.timer.advance(Duration.ofSeconds(44));
        this.bed.runHandlers();

        assertThat(this.stage.cancellations).isZero();
        this.stage.complete(null);
        this.bed.runHandlers();
        this.bed.settle(this.loop);
        assertThat(this.bed.store.messages).isEmpty();
        assertThat(this.bed.counters.snapshot().handled()).isOne();
    }

    @Test
    void aStopCancelsAndReleasesTheMessage() throws InterruptedException {
        this.loop.stop(Duration.ZERO);
        this.bed.context.executor().interruptHandlers(Duration.ZERO);
        this.bed.runHandlers();
        assertThat(this.stage.cancellations).isOne();
        // Later reasons change nothing.
        this.bed.timer.advance(Duration.ofSeconds(46));

        this.stage.completeExceptionally(new IllegalStateException("cancelled"));
        this.bed.runHandlers();
        assertThat(this.bed.store.count("release")).isOne();
        assertThat(this.bed.store.count("retry")).isZero();
        assertThat(this.bed.counters.snapshot().failed()).isZero();
    }

    /** While the application runs on, and so would a handler without a lease. */
    @Test
    void aStopOfTheListenerAloneCancelsAndReleasesTheMessage() {
        this.loop.stop(Duration.ZERO);
        this.bed.runHandlers();
        assertThat(this.stage.cancellations).isOne();

        this.stage.completeExceptionally(new IllegalStateException("cancelled"));
        this.bed.runHandlers();
        assertThat(this.bed.store.count("release")).isOne();
        assertThat(this.bed.counters.snapshot().running()).isZero();
    }

    @Test
    void aPublisherWhoseCancellationFailsHasEnded() {
        PublisherStage failing = PublisherStage.subscribe((subscriber) -> subscriber.onSubscribe(new Subscription() {
            @Override
            public void request(long count) {
            }

            @Override
            public void cancel() {
                throw new IllegalStateException("broken");
            }
        }));

        assertThatIllegalStateException().isThrownBy(failing::requestCancellation).withMessage("broken");
        assertThat(failing).isCompletedExceptionally();
    }

    private static final class Stage extends CompletableFuture<Object> implements CancellableStage {

        private int cancellations;

        @Override
        public void requestCancellation() {
            this.cancellations++;
        }

    }

}

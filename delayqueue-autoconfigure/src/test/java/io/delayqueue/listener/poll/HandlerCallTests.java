package io.delayqueue.listener.poll;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import ch.qos.logback.classic.Level;
import io.delayqueue.HandlerTimeoutException;
import io.delayqueue.fixtures.LogCapture;
import io.delayqueue.fixtures.ManualNanoClock;
import io.delayqueue.fixtures.store.ListenerFakeStore;
import io.delayqueue.store.Lease;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;

/** Tests handlers that take too long, and handlers that return futures. */
class HandlerCallTests {

    private final TestBed bed = new TestBed();

    private final LogCapture log = new LogCapture();

    private ListenerFakeStore.Entry message;

    @BeforeEach
    void addMessage() {
        this.message = this.bed.store.add("m", Duration.ZERO);
    }

    @AfterEach
    void close() {
        this.log.close();
    }

    private void handle() {
        this.bed.handleOnce(this.bed.loop());
    }

    private ListenerStatistics statistics() {
        return this.bed.counters.snapshot();
    }

    @Test
    void interruptsAHandlerThatTakesTooLongAndCountsAFailure() {
        this.bed.timeout = Duration.ofSeconds(10);
        this.bed.handler = (message, delivery) -> (continuations) -> {
            this.bed.timer.advance(Duration.ofSeconds(11));
            assertThat(Thread.currentThread().isInterrupted()).isTrue();
            throw new InterruptedException();
        };
        handle();

        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        assertThat(this.bed.store.count("retry")).isOne();
        assertThat(this.log.lines(Level.WARN)).hasSize(1)
            .first()
            .asString()
            .contains(HandlerTimeoutException.class.getSimpleName())
            .contains("10 s");
    }

    @Test
    void letsAHandlerSucceedThatReturnsAfterItsTimeout() {
        this.bed.timeout = Duration.ofSeconds(10);
        this.bed.handler = (message, delivery) -> (continuations) -> {
            this.bed.timer.advance(Duration.ofSeconds(11));
            return null;
        };
        handle();

        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        assertThat(this.bed.store.messages).isEmpty();
        assertThat(statistics().handled()).isOne();
    }

    @Test
    void interruptsNothingOnceTheHandlerHasReturned() {
        this.bed.timeout = Duration.ofSeconds(10);
        handle();
        assertThat(this.bed.timer.isEmpty()).isTrue();

        this.bed.timeout = Duration.ofSeconds(1);
        InFlightMessage held = new InFlightMessage(
                this.message.lease(new Lease(TestBed.QUEUE, "m", "9"), ManualNanoClock.START),
                new InFlightMessage.Times(this.bed.clock.getAsLong(), this.bed.clock.getAsLong(),
                        ManualNanoClock.START),
                TestBed.LEASE);
        HandlerCall timeout = HandlerCall.start(this.bed.queue(), List.of(held), this.bed.context);
        timeout.returned();
        this.bed.timer.advance(Duration.ofSeconds(2));
        assertThat(Thread.interrupted()).isFalse();
        assertThat(timeout.end()).isTrue();
    }

    /** A stop may fall between the start of a task and that of its handler. */
    @Test
    void interruptsAHandlerThatStartsAfterTheStop() throws InterruptedException {
        HandlerTask stopped = new HandlerTask();
        stopped.interrupt();
        HandlerCall handler = HandlerCall.start(this.bed.queue(), List.of(), this.bed.context);
        stopped.startedBy(handler);
        assertThat(Thread.interrupted()).isTrue();
        assertThat(handler.isStopped()).isTrue();

        HandlerExecutor executor = new HandlerExecutor(false, false, null);
        executor.interruptHandlers(Duration.ZERO);
        HandlerTask late = new HandlerTask();
        executor.handlerStarted(late, HandlerCall.start(this.bed.queue(), List.of(), this.bed.context));
        assertThat(Thread.interrupted()).isTrue();
        executor.handlerEnded(late);
        executor.close();
    }

    /** P12: a stop waits until the messages of such a handler are settled. */
    @Test
    void aStopWaitsForAHandlerThatStartsMeanwhile() throws Exception {
        HandlerExecutor executor = new HandlerExecutor(false, false, null);
        HandlerTask early = new HandlerTask();
        executor.handlerStarted(early, startElsewhere());
        CountDownLatch stopped = new CountDownLatch(1);
        Thread stop = new Thread(() -> {
            try {
                executor.interruptHandlers(Duration.ofMinutes(5));
                stopped.countDown();
            }
            catch (InterruptedException ex) {
                Thread.currentThread().interrupt();
            }
        });
        stop.start();
        Awaitility.await().until(() -> stop.getState() == Thread.State.TIMED_WAITING);

        HandlerTask late = new HandlerTask();
        executor.handlerStarted(late, startElsewhere());
        executor.handlerEnded(early);
        assertThat(stopped.await(100, TimeUnit.MILLISECONDS)).isFalse();
        executor.handlerEnded(late);
        assertThat(stopped.await(1, TimeUnit.MINUTES)).isTrue();
        executor.close();
    }

    /** Starts a handler on a thread that has ended, so that no test is interrupted. */
    private HandlerCall startElsewhere() throws Exception {
        FutureTask<HandlerCall> start = new FutureTask<>(
                () -> HandlerCall.start(this.bed.queue(), List.of(), this.bed.context));
        new Thread(start).start();
        return start.get();
    }

    @Test
    void leavesNoInterruptThatAHandlerSetBehind() {
        this.bed.handler = (message, delivery) -> (continuations) -> {
            Thread.currentThread().interrupt();
            return null;
        };
        PollLoop loop = this.bed.loop();
        loop.runOnce();
        this.bed.runHandlers();

        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    void interruptsOnceAtAStopAndNothingThatHasEnded() {
        HandlerCall timeout = HandlerCall.start(this.bed.queue(), List.of(), this.bed.context);
        assertThat(timeout.interrupt()).isTrue();
        assertThat(Thread.interrupted()).isTrue();
        assertThat(timeout.interrupt()).isTrue();
        assertThat(Thread.interrupted()).isFalse();

        timeout.returned();
        List<String> cancellations = new ArrayList<>();
        timeout.cancelBy(() -> cancellations.add("late"), true);
        timeout.end();
        assertThat(timeout.interrupt()).as("its messages are to be settled").isTrue();
        assertThat(Thread.interrupted()).isFalse();
        assertThat(cancellations).containsExactly("late");
    }

    /** P12: a subscription or a coroutine does not outlive the stop. */
    @Test
    void aStopBetweenTheReturnAndTheStartOfTheWaitCancels() {
        HandlerCall handler = HandlerCall.start(this.bed.queue(), List.of(), this.bed.context);
        handler.returned();
        assertThat(handler.interrupt()).as("can be ended").isFalse();
        List<String> cancellations = new ArrayList<>();
        handler.cancelBy(() -> cancellations.add("cancelled"), true);

        assertThat(cancellations).containsExactly("cancelled");
        assertThat(handler.isStopped()).isTrue();
    }

    /** P12: the application closes the connections to the store after the stop. */
    @Test
    void aStopWaitsUntilTheMessagesOfAHandlerThatHasEndedAreSettled() throws Exception {
        HandlerExecutor executor = new HandlerExecutor(false, false, null);
        HandlerTask task = mock(HandlerTask.class);
        HandlerCall timeout = HandlerCall.start(this.bed.queue(), List.of(), this.bed.context);
        executor.handlerStarted(task, timeout);
        timeout.interrupt(); // as the loop does
        assertThat(Thread.interrupted()).isTrue();
        timeout.returned();
        timeout.end();

        CompletableFuture<Void> stopped = new CompletableFuture<>();
        Thread stop = new Thread(() -> {
            try {
                executor.interruptHandlers(Duration.ofMinutes(1));
                stopped.complete(null);
            }
            catch (InterruptedException ex) {
                stopped.completeExceptionally(ex);
            }
        });
        stop.start();
        TestBed.await(() -> stop.getState() == Thread.State.TIMED_WAITING);
        assertThat(stopped).isNotDone();
        executor.handlerEnded(task);
        stopped.join();
        executor.close();
    }

    /** Whatever an executor of the application throws that was closed. */
    @Test
    void endsTheFutureOfAHandlerWithoutAThread() {
        CompletableFuture<String> future = new CompletableFuture<>();
        this.bed.handler = (message, delivery) -> (continuations) -> future;
        AtomicBoolean closed = new AtomicBoolean();
        PollLoop loop = TestBed.loop(this.bed.queue(), this.bed.with().executor((task) -> {
            if (closed.get()) {
                throw new IllegalStateException("closed");
            }
            this.bed.handlers.add(task);
        }).build());
        loop.runOnce();
        this.bed.runHandlers();

        closed.set(true);
        future.complete("done");
        this.bed.settle(loop);
        assertThat(this.bed.store.calls).containsExactly("claim 1", "acknowledge [m]");
        assertThat(statistics().running()).isZero();
    }

    /** Waiting on the thread of the store's connection would stop all calls. */
    @Test
    void doesNotWaitForTheStoreOnTheThreadThatCompletesAFuture() {
        CompletableFuture<String> future = new CompletableFuture<>();
        this.bed.handler = (message, delivery) -> (continuations) -> future;
        AtomicBoolean closed = new AtomicBoolean();
        HandlerExecutor executor = new HandlerExecutor(false, false, (task) -> {
            if (closed.get()) {
                throw new IllegalStateException("closed");
            }
            this.bed.handlers.add(task);
        });
        PollLoop loop = TestBed.loop(this.bed.queue(), this.bed.with().executor(executor).build());
        loop.runOnce();
        this.bed.runHandlers();
        List<String> threads = new CopyOnWriteArrayList<>();
        this.bed.store.during("retry", () -> threads.add(Thread.currentThread().getName()));
        CompletableFuture<Void> answer = this.bed.store.stall("retry");
        closed.set(true);

        ExecutorService connection = Executors.newSingleThreadExecutor();
        connection.execute(() -> future.completeExceptionally(new IllegalStateException("boom")));
        connection.execute(() -> answer.complete(null));
        TestBed.await(() -> statistics().running() == 0);

        assertThat(this.bed.store.calls).containsExactly("claim 1", "retry m in PT1S");
        assertThat(threads).singleElement().asString().startsWith("delayqueue-handler-extra-");
        connection.shutdown();
        executor.close();
    }

    @Test
    void waitsForTheFutureOfAHandlerWithoutItsThread() {
        CompletableFuture<String> future = new CompletableFuture<>();
        this.bed.handler = (message, delivery) -> (continuations) -> future;
        PollLoop loop = this.bed.loop();
        loop.runOnce();
        this.bed.runHandlers();
        loop.runOnce();
        assertThat(this.bed.store.calls).containsExactly("claim 1");
        assertThat(statistics().running()).isOne();

        future.complete("done");
        assertThat(this.bed.handlers).hasSize(1);
        this.bed.runHandlers();
        this.bed.settle(loop);
        assertThat(this.bed.store.calls).containsExactly("claim 1", "acknowledge [m]");
        assertThat(statistics().running()).isZero();
    }

    @Test
    void countsTheFailureOfAFutureAsTheHandlers() {
        this.bed.handler = (message, delivery) -> (continuations) -> CompletableFuture.supplyAsync(() -> {
            throw new IllegalStateException("boom");
        }, Runnable::run);
        handle();

        assertThat(this.log.lines(Level.WARN)).hasSize(1)
            .first()
            .asString()
            .endsWith("is due again in 1 s: java.lang.IllegalStateException: boom");
    }

    @Test
    void cancelsAFutureThatTakesTooLong() {
        this.bed.timeout = Duration.ofSeconds(10);
        CompletableFuture<String> future = new CompletableFuture<>();
        this.bed.handler = (message, delivery) -> (continuations) -> future;
        PollLoop loop = this.bed.loop();
        loop.runOnce();
        this.bed.runHandlers();

        this.bed.timer.advance(Duration.ofSeconds(11));
        assertThat(future).isNotDone();
        this.bed.runHandlers();

        assertThat(future).isCancelled();
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        assertThat(this.bed.store.calls).containsExactly("claim 1", "retry m in PT1S");
        assertThat(this.log.lines(Level.WARN)).hasSize(1)
            .first()
            .asString()
            .contains(HandlerTimeoutException.class.getSimpleName());
    }

    @Test
    void countsACancelledFutureAsAFailure() {
        CompletableFuture<String> future = new CompletableFuture<>();
        future.cancel(true);
        this.bed.handler = (message, delivery) -> (continuations) -> future;
        handle();

        assertThat(this.bed.store.count("retry")).isOne();
        assertThat(this.log.lines(Level.WARN).get(0)).contains(CancellationException.class.getSimpleName());
    }

}

package io.delayqueue.listener.poll;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import ch.qos.logback.classic.Level;
import io.delayqueue.fixtures.LogCapture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.core.task.TaskDecorator;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that, for any decorator, each message is handled once and settled as its handler
 * ended (P9), and that no permit is lost (P3).
 */
class SafeTaskDecoratorTests {

    private final TestBed bed = new TestBed();

    private final LogCapture log = new LogCapture();

    @BeforeEach
    void addMessage() {
        this.bed.store.add("m", Duration.ZERO);
    }

    @AfterEach
    void close() {
        this.log.close();
    }

    private PollLoop loop(TaskDecorator decorator) {
        PollLoopContext context = this.bed.with()
            .settings(new SharedListenerSettings(Duration.ofSeconds(20), TestBed.SAFETY_POLL, null, false,
                    new HandlerExecution(null, decorator)))
            .build();
        return TestBed.loop(this.bed.queue(), context);
    }

    @Test
    void aMessageWhoseDecorationFailsHasFailedAnAttempt() {
        boolean[] failing = { true };
        PollLoop loop = loop((task) -> {
            if (failing[0]) {
                throw new IllegalStateException("no tenant");
            }
            return task;
        });
        this.bed.handleOnce(loop);
        assertThat(this.bed.handled).isEmpty();
        assertThat(this.bed.store.calls).startsWith("claim 1", "retry m in PT1S");
        assertThat(this.log.lines(Level.WARN))
            .anyMatch((line) -> line.startsWith("Message 'm' of queue 'orders' failed on attempt 1")
                    && line.endsWith("no tenant"));
        assertThat(this.bed.counters.snapshot().failed()).isOne();

        failing[0] = false;
        this.bed.clock.advance(Duration.ofSeconds(1));
        this.bed.handleOnce(loop);
        assertThat(this.bed.handled).containsExactly("m");
        assertThat(this.bed.store.messages).isEmpty();
    }

    @Test
    void aMessageWhoseDecorationFailsAtEachAttemptBecomesADeadLetter() {
        this.bed.maxAttempts = 2;
        PollLoop loop = loop((task) -> {
            throw new IllegalStateException("no tenant");
        });
        this.bed.handleOnce(loop);
        this.bed.clock.advance(Duration.ofSeconds(1));
        this.bed.handleOnce(loop);

        assertThat(this.bed.handled).isEmpty();
        assertThat(this.bed.store.messages).isEmpty();
        assertThat(this.bed.store.dead).containsOnlyKeys("m~2");
        assertThat(this.bed.store.dead.get("m~2").cause()).startsWith("java.lang.IllegalStateException: no tenant");
    }

    @Test
    void aMessageWhoseDecorationFailsAfterItsLeaseIsReleased() {
        this.bed.handleOnce(loop((task) -> {
            this.bed.clock.advance(TestBed.LEASE.plusSeconds(1));
            throw new IllegalStateException("no tenant");
        }));

        assertThat(this.bed.store.calls).noneMatch((call) -> call.startsWith("retry"));
        assertThat(this.bed.counters.snapshot().failed()).isZero();
    }

    @Test
    void aMessageIsAcknowledgedThoughItsDecorationFailsAfterTheHandler() {
        this.bed.handleOnce(loop((task) -> () -> {
            task.run();
            throw new IllegalStateException("cannot clean up");
        }));

        assertThat(this.bed.store.calls).containsExactly("claim 1", "acknowledge [m]");
        assertThat(this.log.lines(Level.ERROR)).hasSize(1).first().asString().endsWith("failed");
    }

    @Test
    void aMessageIsNotHandledIfItsDecorationDoesNotRunItAndOthersAre() {
        List<String> skipped = List.of("m");
        int[] tasks = { 0 };
        PollLoop loop = loop((task) -> (tasks[0]++ < skipped.size()) ? () -> {
        } : task);
        this.bed.handleOnce(loop);
        this.bed.store.add("next", Duration.ZERO);
        this.bed.handleOnce(loop);

        assertThat(this.bed.handled).containsExactly("next");
        assertThat(this.bed.store.calls).contains("retry m in PT1S");
    }

    @Test
    void aMessageIsHandledOnceThoughItsDecorationRunsItTwice() {
        this.bed.handleOnce(loop((task) -> () -> {
            task.run();
            task.run();
        }));

        assertThat(this.bed.handled).containsExactly("m");
        assertThat(this.bed.store.calls).containsExactly("claim 1", "acknowledge [m]");
    }

    @ParameterizedTest
    @ValueSource(booleans = { false, true })
    void aFutureIsCompletedThoughItsDecorationFails(boolean error) {
        CompletableFuture<Void> future = new CompletableFuture<>();
        this.bed.handler = (message, delivery) -> (continuations) -> {
            this.bed.handled.add(message.lease().id());
            return future;
        };
        boolean[] failing = { false };
        PollLoop loop = loop((task) -> {
            if (failing[0] && error) {
                throw new NoClassDefFoundError("no tenant");
            }
            if (failing[0]) {
                throw new IllegalStateException("no tenant");
            }
            return task;
        });
        this.bed.handleOnce(loop);

        failing[0] = true;
        future.complete(null);
        this.bed.runHandlers();
        this.bed.settle(loop);

        assertThat(this.bed.store.calls).contains("acknowledge [m]");
    }

}

package io.delayqueue.web.consume;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;

import io.delayqueue.DeadLetterEvent;
import io.delayqueue.admin.AuditedOperationEvent;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/** Checks that listeners receive all events in order, and block only each other. */
@ExtendWith(OutputCaptureExtension.class)
class AsyncEventPublisherTests {

    private static final Duration LONG = Duration.ofMinutes(1);

    private final List<Object> published = new CopyOnWriteArrayList<>();

    @Test
    void publishesAllEventsInOrderOnItsOwnThreadBeforeItStops() {
        List<String> threads = new CopyOnWriteArrayList<>();
        AsyncEventPublisher publisher = new AsyncEventPublisher((event) -> {
            this.published.add(event);
            threads.add(Thread.currentThread().getName());
        }, 100, LONG);
        publisher.start();
        List<AuditedOperationEvent> events = IntStream.range(0, 100).mapToObj(AsyncEventPublisherTests::event).toList();

        events.forEach(publisher::publish);
        publisher.stop();

        assertThat(this.published).containsExactlyElementsOf(events);
        assertThat(threads).containsOnly("delayqueue-web-audit");
        assertThat(publisher.isRunning()).isFalse();
    }

    @Test
    void aListenerThatHangsOrFailsBlocksNoCaller() throws Exception {
        CountDownLatch hanging = new CountDownLatch(1);
        CountDownLatch heard = new CountDownLatch(1);
        AsyncEventPublisher publisher = new AsyncEventPublisher((event) -> {
            if (event instanceof DeadLetterEvent) {
                heard.countDown();
                throw new IllegalStateException("fails");
            }
            await(hanging);
            this.published.add(event);
        }, 2, LONG);
        publisher.start();

        // One is being published, two wait, and the rest is logged.
        IntStream.range(0, 10).mapToObj(AsyncEventPublisherTests::event).forEach(publisher::publish);
        publisher.publish(new DeadLetterEvent("q", "1", "1~1", 0, "why not"));
        heard.await();
        hanging.countDown();
        publisher.stop();

        assertThat(this.published).containsExactly(event(0), event(1), event(2));
    }

    @Test
    void aHangingAppenderBlocksNoCallerAndLostLinesAreCounted(CapturedOutput output) {
        CountDownLatch hanging = new CountDownLatch(1);
        List<Integer> logged = new CopyOnWriteArrayList<>();
        AsyncEventPublisher publisher = new AsyncEventPublisher(this.published::add, 2, LONG);
        publisher.start();

        IntStream.range(0, 10).forEach((i) -> publisher.log(() -> {
            await(hanging);
            logged.add(i);
        }));
        hanging.countDown();
        publisher.stop();

        assertThat(logged).containsExactly(0, 1, 2);
        assertThat(output).contains("7 lines were not logged here because too many were pending");
    }

    /** An audit needs each change: a count would not be enough. */
    @ParameterizedTest
    @ValueSource(booleans = { false, true })
    void aStopThatTimesOutLogsEachUnpublishedEvent(boolean interrupted, CapturedOutput output) throws Exception {
        CountDownLatch hangs = new CountDownLatch(1);
        AsyncEventPublisher publisher = new AsyncEventPublisher((event) -> {
            hangs.countDown();
            await(new CountDownLatch(1));
        }, 100, interrupted ? LONG : Duration.ofMillis(1));
        publisher.start();
        IntStream.range(0, 3).mapToObj(AsyncEventPublisherTests::event).forEach(publisher::publish);
        hangs.await();

        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        publisher.stop();

        assertThat(Thread.interrupted()).isEqualTo(interrupted);
        assertThat(output.getAll().lines().filter((line) -> line.contains("Event not published"))).hasSize(2)
            .anyMatch((line) -> line.contains(event(1).toString()))
            .anyMatch((line) -> line.contains(event(2).toString()));
        Awaitility.await().until(() -> publisher.pending() == 0);
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }

    private static AuditedOperationEvent event(int number) {
        return new AuditedOperationEvent("ann", "acknowledge", "q", "m" + number, 1);
    }

}

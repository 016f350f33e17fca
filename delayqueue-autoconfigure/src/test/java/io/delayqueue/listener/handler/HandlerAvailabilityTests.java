package io.delayqueue.listener.handler;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.delayqueue.fixtures.LogCapture;
import io.delayqueue.fixtures.ManualNanoClock;
import io.delayqueue.listener.handler.HandlerAvailability.Attempt;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that one message at a time probes a system that is unavailable, after growing
 * waits, and that the log has one line for the begin and one for the end of an outage.
 */
class HandlerAvailabilityTests {

    private static final RuntimeException AWAY = new IllegalStateException("away");

    private final ManualNanoClock clock = new ManualNanoClock();

    private final LogCapture log = new LogCapture();

    private final HandlerAvailability availability = new HandlerAvailability("Messages of queue 'orders'",
            "forwarded to 'kafka:orders'", this.clock);

    @AfterEach
    void close() {
        this.log.close();
    }

    private void probe(boolean confirmed) {
        Attempt attempt = this.availability.begin();
        assertThat(attempt).isEqualTo(Attempt.PROBE);
        if (confirmed) {
            this.availability.confirmed(attempt);
        }
        else {
            this.availability.unavailable(attempt, AWAY);
        }
    }

    @Test
    void theFirstMessageIsAProbe() {
        assertThat(this.availability.untilAvailable()).isZero();
        assertThat(this.availability.begin()).isEqualTo(Attempt.PROBE);
        assertThat(this.availability.begin()).isEqualTo(Attempt.REJECTED);
        assertThat(this.availability.untilAvailable()).isEqualTo(HandlerAvailability.PROBE_CHECK);

        this.availability.confirmed(Attempt.PROBE);

        assertThat(this.availability.isAvailable()).isTrue();
        assertThat(this.availability.untilAvailable()).isZero();
        assertThat(this.availability.begin()).isEqualTo(Attempt.ORDINARY);
        assertThat(this.log.lines(Level.INFO)).isEmpty();
    }

    /** Health and a meter show it. */
    @Test
    void anOutageLastsFromTheFirstFailureToTheFirstSuccess() {
        assertThat(this.availability.outage()).isNull();
        probe(false);
        this.clock.advance(Duration.ofSeconds(1));
        probe(false);
        this.clock.advance(Duration.ofSeconds(2));
        assertThat(this.availability.outage()).isEqualTo(new HandlerOutage(
                "Messages of queue 'orders' cannot be forwarded to 'kafka:orders'", "away", Duration.ofSeconds(3)));

        probe(true);
        assertThat(this.availability.outage()).isNull();
    }

    /** The messages were cancelled or have expired, so none is tried again. */
    @Test
    void anOutageIsUnknownOnceNoMessageIsTried() {
        probe(false);
        this.clock.advance(Duration.ofSeconds(61));
        assertThat(this.availability.outage()).isNotNull();
        this.clock.advance(Duration.ofSeconds(1));
        assertThat(this.availability.outage()).isNull();

        probe(false);
        this.clock.advance(Duration.ofSeconds(1));
        assertThat(this.availability.outage()).extracting(HandlerOutage::age).isEqualTo(Duration.ofSeconds(1));
        assertThat(this.log.lines(Level.WARN)).hasSize(2);
    }

    /** A call of the broker may take long. */
    @Test
    void anOutageIsKnownWhileAMessageIsTried() {
        probe(false);
        this.clock.advance(Duration.ofSeconds(2));
        assertThat(this.availability.begin()).isEqualTo(Attempt.PROBE);
        this.clock.advance(Duration.ofMinutes(5));
        assertThat(this.availability.outage()).isNotNull();
    }

    @Test
    void theWaitsGrowUpToTenSeconds() {
        List<Duration> waits = new ArrayList<>();
        for (int i = 0; i < 70; i++) {
            probe(false);
            Duration wait = this.availability.untilAvailable();
            waits.add(wait);
            this.clock.advance(wait.minusNanos(1));
            assertThat(this.availability.begin()).isEqualTo(Attempt.REJECTED);
            this.clock.advance(Duration.ofNanos(1));
        }

        assertThat(waits).startsWith(Duration.ofSeconds(1), Duration.ofSeconds(2), Duration.ofSeconds(4),
                Duration.ofSeconds(8), Duration.ofSeconds(10));
        assertThat(waits.subList(4, 70)).containsOnly(Duration.ofSeconds(10));
    }

    /** Messages in flight at the begin of an outage all fail, and lengthen no wait. */
    @Test
    void onlyProbesLengthenTheWait() {
        probe(true);
        for (int i = 0; i < 10; i++) {
            this.availability.unavailable(Attempt.ORDINARY, AWAY);
        }
        assertThat(this.availability.untilAvailable()).isEqualTo(Duration.ofSeconds(1));
        this.availability.confirmed(Attempt.ORDINARY);
        assertThat(this.availability.isAvailable()).isFalse();
    }

    @Test
    void anOutageOfTenMinutesIsTwoLinesOfTheLog() {
        probe(true);
        this.availability.unavailable(Attempt.ORDINARY, AWAY);
        this.clock.advance(Duration.ofSeconds(1));
        for (int i = 0; i < 60; i++) {
            probe(false);
            this.clock.advance(Duration.ofSeconds(10));
        }
        probe(true);

        assertThat(this.log.lines(Level.WARN)).hasSize(1)
            .first()
            .asString()
            .startsWith("Messages of queue 'orders' cannot be forwarded to 'kafka:orders'");
        assertThat(this.log.lines(Level.INFO))
            .containsExactly("Messages of queue 'orders' are forwarded to 'kafka:orders' again, after 10 min 1 s");
    }

    /** Some partitions of a topic may be away, and others not. */
    @Test
    void anOutageThatComesAndGoesIsLoggedOnceAMinute() {
        for (int i = 0; i < 59; i++) {
            probe(true);
            this.availability.unavailable(Attempt.ORDINARY, AWAY);
            this.clock.advance(Duration.ofSeconds(1));
        }
        assertThat(this.log.lines(Level.WARN)).hasSize(1);

        this.clock.advance(Duration.ofSeconds(1));
        probe(true);
        this.availability.unavailable(Attempt.ORDINARY, AWAY);
        assertThat(this.log.lines(Level.WARN)).hasSize(2);
        assertThat(this.log.lines(Level.INFO)).hasSize(1);
    }

    /** Such as the second of two restarts of a broker. */
    @Test
    void anOutageThatBeginsSoonAfterAnotherIsLoggedIfItLasts() {
        probe(true);
        this.availability.unavailable(Attempt.ORDINARY, AWAY);
        this.clock.advance(Duration.ofSeconds(1));
        probe(true);
        this.clock.advance(Duration.ofSeconds(20));
        this.availability.unavailable(Attempt.ORDINARY, AWAY);
        for (int i = 0; i < 60; i++) {
            this.clock.advance(Duration.ofSeconds(10));
            probe(false);
        }
        this.clock.advance(Duration.ofSeconds(10));
        probe(true);

        assertThat(this.log.lines(Level.WARN)).hasSize(2);
        assertThat(this.log.lines(Level.INFO)).hasSize(2).last().asString().endsWith("after 10 min 10 s");
    }

    /** Loops check on the thread of the client. */
    @Test
    void aLogThatBlocksBlocksNoCheck() throws Exception {
        CountDownLatch blocked = new CountDownLatch(1);
        CountDownLatch released = new CountDownLatch(1);
        AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {

            @Override
            protected void append(ILoggingEvent event) {
                blocked.countDown();
                try {
                    released.await(2, TimeUnit.MINUTES);
                }
                catch (InterruptedException ex) {
                    Thread.currentThread().interrupt();
                }
            }

        };
        Logger logger = (Logger) LoggerFactory.getLogger(HandlerAvailability.class);
        appender.start();
        logger.addAppender(appender);
        Attempt attempt = this.availability.begin();
        Thread handler = new Thread(() -> this.availability.unavailable(attempt, AWAY));
        try {
            handler.start();
            assertThat(blocked.await(1, TimeUnit.MINUTES)).isTrue();

            CompletableFuture<Duration> check = CompletableFuture.supplyAsync(this.availability::untilAvailable);
            assertThat(check.get(1, TimeUnit.MINUTES)).isEqualTo(HandlerAvailability.SHORTEST_WAIT);
            assertThat(released.getCount()).as("the log still blocks").isOne();
        }
        finally {
            released.countDown();
            logger.detachAppender(appender);
            handler.join();
        }
    }

    @Test
    void aMessageThatFailsByItselfEndsItsProbe() {
        this.availability.failed(this.availability.begin());

        assertThat(this.availability.untilAvailable()).isZero();
        assertThat(this.availability.begin()).isEqualTo(Attempt.PROBE);
        assertThat(this.log.lines(Level.WARN)).isEmpty();
    }

}

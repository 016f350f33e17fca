package io.delayqueue.intake;

import java.nio.charset.StandardCharsets;
import java.time.Duration;

import ch.qos.logback.classic.Level;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedMessage;
import io.delayqueue.QueueName;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.fixtures.LogCapture;
import io.delayqueue.fixtures.ManualNanoClock;
import io.delayqueue.store.envelope.EnvelopeCodec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/** Tests how long an intake reports that the store does not take its messages. */
class IntakeSchedulerTests {

    private final ManualNanoClock clock = new ManualNanoClock();

    private final LogCapture log = new LogCapture();

    private final DelayQueueOperations operations = mock(DelayQueueOperations.class);

    private final IntakeScheduler scheduler = new IntakeScheduler("kafka:late", new QueueName("orders"),
            new EnvelopeCodec(JsonMapper.builder().build()), this.operations, this.clock);

    @AfterEach
    void close() {
        this.log.close();
    }

    private IntakeOutcome schedule() {
        IntakeHeaders headers = new IntakeHeaders();
        headers.put("delayqueue-delay", "PT5M");
        return this.scheduler
            .schedule(new IntakeMessage("test", "1", null, headers, "1".getBytes(StandardCharsets.UTF_8)));
    }

    private void failing(boolean failing) {
        given(this.operations.send(any(DelayedMessage.class))).willAnswer((call) -> {
            if (failing) {
                throw new IllegalStateException("away");
            }
            return new SendResult("orders", "1", null, SendOutcome.SCHEDULED);
        });
    }

    @Test
    void aProblemLastsUntilAMessageIsScheduled() {
        failing(true);
        for (int i = 0; i < 30; i++) {
            assertThat(schedule()).isEqualTo(IntakeOutcome.FAILED);
            this.clock.advance(Duration.ofSeconds(10));
        }
        assertThat(this.scheduler.problem()).isNotNull()
            .extracting(IntakeProblem::age)
            .isEqualTo(Duration.ofMinutes(5));

        failing(false);
        assertThat(schedule()).isEqualTo(IntakeOutcome.SCHEDULED);

        assertThat(this.scheduler.problem()).isNull();
        assertThat(this.log.lines(Level.WARN)).hasSize(1);
        assertThat(this.log.lines(Level.INFO)).hasSize(1);
    }

    /** Another process may have got the partitions, and nothing more comes. */
    @Test
    void aProblemIsUnknownOnceNoMessageIsTried() {
        failing(true);
        schedule();
        this.clock.advance(Duration.ofSeconds(60));
        assertThat(this.scheduler.problem()).isNotNull();

        this.clock.advance(Duration.ofSeconds(1));
        assertThat(this.scheduler.problem()).isNull();

        schedule();
        assertThat(this.scheduler.problem()).isNotNull().extracting(IntakeProblem::age).isEqualTo(Duration.ZERO);
        assertThat(this.log.lines(Level.WARN)).hasSize(2);
    }

    /** A call may take longer than a minute. */
    @Test
    void aProblemIsKnownWhileAMessageIsTried() {
        failing(true);
        schedule();
        given(this.operations.send(any(DelayedMessage.class))).willAnswer((call) -> {
            this.clock.advance(Duration.ofSeconds(61));
            assertThat(this.scheduler.problem()).isNotNull();
            return new SendResult("orders", "1", null, SendOutcome.SCHEDULED);
        });

        assertThat(schedule()).isEqualTo(IntakeOutcome.SCHEDULED);
    }

}

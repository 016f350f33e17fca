package io.delayqueue.actuator;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.QueueName;
import io.delayqueue.intake.Intake;
import io.delayqueue.intake.IntakeProblem;
import io.delayqueue.intake.IntakeScheduler;
import io.delayqueue.store.envelope.EnvelopeCodec;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/** Tests what the health contributor of intake reports. */
class IntakeHealthIndicatorTests {

    private final Intake intake = mock(Intake.class);

    @BeforeEach
    void createIntake() {
        given(this.intake.scheduler()).willReturn(new IntakeScheduler("kafka:late", new QueueName("orders"),
                new EnvelopeCodec(JsonMapper.shared()), mock(DelayQueueOperations.class), System::nanoTime));
        given(this.intake.isRunning()).willReturn(true);
    }

    private Health health() {
        return new IntakeHealthIndicator(List.of(this.intake)).health();
    }

    @Test
    void isUpWhileAllIntakesRun() {
        assertThat(health()).isEqualTo(Health.up().withDetail("intakes", Map.of("kafka:late", "running")).build());
    }

    @Test
    void isDownOnceAnIntakeHasScheduledNothingForAWhile() {
        given(this.intake.problem())
            .willReturn(new IntakeProblem("Kafka rejects the consumer", Duration.ofSeconds(10)));
        assertThat(health().getStatus()).isEqualTo(Status.UP);
        assertThat(health().getDetails()).hasToString("{intakes={kafka:late=cannot schedule}}");

        given(this.intake.problem())
            .willReturn(new IntakeProblem("Kafka rejects the consumer", Duration.ofSeconds(11)));
        assertThat(health().getStatus()).isEqualTo(Status.DOWN);
        assertThat(health().getDetails()).containsEntry("problems", List
            .of("Intake 'kafka:late' of queue 'orders': nothing has been scheduled for 11 s: Kafka rejects the consumer"));
    }

}

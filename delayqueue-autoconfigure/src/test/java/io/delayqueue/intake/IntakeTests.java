package io.delayqueue.intake;

import java.time.Duration;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.QueueName;
import io.delayqueue.store.envelope.EnvelopeCodec;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Answers.CALLS_REAL_METHODS;
import static org.mockito.BDDMockito.willReturn;
import static org.mockito.Mockito.mock;

/** Tests which problems the status of an intake has. */
class IntakeTests {

    private final Intake intake = mock(Intake.class, CALLS_REAL_METHODS);

    @BeforeEach
    void createIntake() {
        willReturn(new IntakeScheduler("kafka:late", new QueueName("orders"), new EnvelopeCodec(JsonMapper.shared()),
                mock(DelayQueueOperations.class), System::nanoTime))
            .given(this.intake)
            .scheduler();
        willReturn(new IntakeProblem("a consumer has stopped", Duration.ofSeconds(11))).given(this.intake).problem();
        willReturn(false).given(this.intake).isRunning();
    }

    @Test
    void theStatusOfAnIntakeThatHasEndedHasTheProblem() {
        willReturn(true).given(this.intake).isStarted();

        assertThat(this.intake.status().running()).isFalse();
        assertThat(this.intake.status().problem())
            .isEqualTo("nothing has been scheduled for 11 s: a consumer has stopped");
    }

    @Test
    void theStatusOfAnIntakeThatWasStoppedHasNoProblem() {
        willReturn(false).given(this.intake).isStarted();

        assertThat(this.intake.status().problem()).isNull();
    }

}

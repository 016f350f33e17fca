package io.delayqueue.autoconfigure;

import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.type.AnnotatedTypeMetadata;

/** Matches if intake from any topic or queue of a broker is configured. */
final class OnIntakeCondition extends SpringBootCondition {

    @Override
    public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
        IntakeSettings intake = Binder.get(context.getEnvironment())
            .bindOrCreate("delayqueue.intake", IntakeSettings.class);
        ConditionMessage.Builder message = ConditionMessage.forCondition("Intake");
        return (intake.kafka().isEmpty() && intake.rabbit().isEmpty())
                ? ConditionOutcome.noMatch(message.because("no source is configured"))
                : ConditionOutcome.match(message.because("a source is configured"));
    }

}

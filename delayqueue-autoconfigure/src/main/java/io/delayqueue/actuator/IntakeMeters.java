package io.delayqueue.actuator;

import java.util.Collection;
import java.util.List;

import io.delayqueue.intake.Intake;
import io.delayqueue.intake.IntakeOutcome;
import io.delayqueue.intake.IntakeProblem;
import io.micrometer.core.instrument.MeterRegistry;

/** Registers the meters of the intakes of this node. */
public final class IntakeMeters {

    /** The registry refers to them weakly. */
    private final List<Intake> intakes;

    public IntakeMeters(MeterRegistry registry, Collection<? extends Intake> intakes) {
        this.intakes = List.copyOf(intakes);
        this.intakes.forEach((intake) -> register(registry, intake));
    }

    private static void register(MeterRegistry registry, Intake intake) {
        String queue = intake.scheduler().queue().value();
        String source = intake.scheduler().source();
        for (IntakeOutcome outcome : IntakeOutcome.values()) {
            DelayQueueMeter.INTAKE_MESSAGES.counter(intake, (each) -> each.scheduler().count(outcome))
                .tag(DelayQueueMeter.QUEUE, queue)
                .tag(DelayQueueMeter.SOURCE, source)
                .tag(DelayQueueMeter.OUTCOME, DelayQueueMeter.tagOf(outcome))
                .register(registry);
        }
        DelayQueueMeter.INTAKE_OUTAGE.gauge(queue, intake, IntakeMeters::outage)
            .tag(DelayQueueMeter.SOURCE, source)
            .register(registry);
    }

    private static double outage(Intake intake) {
        IntakeProblem problem = intake.problem();
        return (problem != null) ? problem.age().toMillis() / 1000.0 : 0;
    }

}

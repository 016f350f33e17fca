package io.delayqueue.actuator;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import io.delayqueue.intake.Intake;
import io.delayqueue.intake.IntakeProblem;

import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/**
 * Reports whether the intakes of this node read from their brokers and schedule. Down if
 * one has not been able to for a while. Waits for nothing.
 */
public final class IntakeHealthIndicator extends AbstractHealthIndicator {

    private final List<Intake> intakes;

    public IntakeHealthIndicator(Collection<? extends Intake> intakes) {
        super("Health of intake cannot be determined");
        this.intakes = List.copyOf(intakes);
    }

    @Override
    protected void doHealthCheck(Health.Builder builder) {
        List<String> problems = new ArrayList<>();
        Map<String, String> states = new TreeMap<>();
        for (Intake intake : this.intakes) {
            IntakeProblem problem = intake.problem();
            String source = intake.scheduler().source();
            states.put(source, (problem != null) ? "cannot schedule" : intake.isRunning() ? "running" : "stopped");
            if (problem != null && problem.isLasting()) {
                problems.add("Intake '%s' of queue '%s': %s".formatted(source, intake.scheduler().queue(),
                        problem.describe()));
            }
        }
        builder.withDetail("intakes", states);
        if (problems.isEmpty()) {
            builder.up();
        }
        else {
            builder.down().withDetail("problems", problems);
        }
    }

}

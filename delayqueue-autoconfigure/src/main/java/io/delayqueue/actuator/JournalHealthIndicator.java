package io.delayqueue.actuator;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.delayqueue.journal.JournalStatus;
import io.delayqueue.store.Texts;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/**
 * Reports whether requests of the journal are applied, whether its rows are compared with
 * Redis, and whether queues belong to another journal. Down if any of these fails for a
 * while. Waits for nothing.
 */
public final class JournalHealthIndicator extends AbstractHealthIndicator {

    /** Outages that are shorter do not change the status. */
    private static final Duration TOLERANCE = Duration.ofSeconds(10);

    /** Longer than any round takes. */
    private static final Duration STALLED = Duration.ofMinutes(1);

    private static final String UNMAINTAINED = "No node has done the work for all nodes for %s: overdue messages are not "
            + "compared, and old records not deleted. Set delayqueue.journal.maintenance=true on one";

    private final JournalStatus status;

    public JournalHealthIndicator(JournalStatus status) {
        super("Health of the journal cannot be determined");
        this.status = status;
    }

    @Override
    protected void doHealthCheck(Health.Builder builder) {
        List<String> problems = new ArrayList<>();
        add(problems, this.status.relayProblem(),
                "Requests are recorded, and have not been applied to Redis for %s: %s");
        add(problems, this.status.reconcilerProblem(),
                "Rows have not been compared with Redis for %s, so lost messages are not restored: %s");
        if (!this.status.foreignQueues().isEmpty()) {
            problems.add("Queues %s belong to the journal of another database: nothing of them is relayed or restored"
                .formatted(this.status.foreignQueues()));
        }
        if (this.status.round().compareTo(STALLED) > 0) {
            problems
                .add("A statement of the journal has not ended for %s: requests are not applied, or rows not compared"
                    .formatted(Texts.span(this.status.round())));
        }
        if (this.status.unmaintained().compareTo(STALLED) > 0) {
            problems.add(UNMAINTAINED.formatted(Texts.span(this.status.unmaintained())));
        }
        String older = this.status.older();
        if (older != null) {
            problems.add(older);
        }
        builder.withDetail("delay", Texts.span(this.status.delay()))
            .withDetail("ended", this.status.backlogs())
            .withDetail("restoring", this.status.restoring());
        if (problems.isEmpty()) {
            builder.up();
        }
        else {
            builder.down().withDetail("problems", problems);
        }
    }

    private static void add(List<String> problems, JournalStatus.@Nullable Problem problem, String text) {
        if (problem != null && problem.age().compareTo(TOLERANCE) > 0) {
            problems.add(text.formatted(Texts.span(problem.age()), problem.failure()));
        }
    }

}

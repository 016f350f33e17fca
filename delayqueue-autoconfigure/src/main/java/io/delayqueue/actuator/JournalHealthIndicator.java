package io.delayqueue.actuator;

import java.util.List;

import io.delayqueue.journal.JournalStatus;
import io.delayqueue.store.Texts;

import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/**
 * Reports whether requests of the journal are applied, whether its rows are compared with
 * Redis, and whether queues belong to another journal. Down if any of these fails for a
 * while. Waits for nothing.
 */
public final class JournalHealthIndicator extends AbstractHealthIndicator {

    private final JournalStatus status;

    public JournalHealthIndicator(JournalStatus status) {
        super("Health of the journal cannot be determined");
        this.status = status;
    }

    @Override
    protected void doHealthCheck(Health.Builder builder) {
        List<String> problems = this.status.problems();
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

}

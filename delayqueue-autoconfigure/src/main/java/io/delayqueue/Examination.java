package io.delayqueue;

import java.util.List;

/**
 * What a {@link DelayQueueDoctor} looked at and found.
 *
 * @param examined messages and dead letters, or keys, that were looked at
 * @param findings what is wrong; empty if all is well
 * @param complete {@code false} if there may be more, as
 * {@value DelayQueueDoctor#MOST_FINDINGS} are told at once
 */
public record Examination(long examined, List<Finding> findings, boolean complete) {

    public Examination {
        findings = List.copyOf(findings);
    }

    /** Whether all is well. */
    public boolean isSound() {
        return this.findings.isEmpty() && this.complete;
    }

}

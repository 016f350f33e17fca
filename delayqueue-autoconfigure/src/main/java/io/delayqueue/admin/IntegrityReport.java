package io.delayqueue.admin;

import java.util.List;

/**
 * What a {@link DelayQueueIntegrityChecker} looked at and found.
 *
 * @param examined messages and dead letters, or keys, that were looked at
 * @param findings what is wrong; empty if all is well
 * @param complete {@code false} if there may be more, as
 * {@value DelayQueueIntegrityChecker#MOST_FINDINGS} are told at once
 */
public record IntegrityReport(long examined, List<Finding> findings, boolean complete) {

    public IntegrityReport {
        findings = List.copyOf(findings);
    }

    /** Whether all is well. */
    public boolean isSound() {
        return this.findings.isEmpty() && this.complete;
    }

}

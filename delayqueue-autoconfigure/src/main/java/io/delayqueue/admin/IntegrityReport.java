package io.delayqueue.admin;

import java.util.List;

/**
 * Holds the result of a {@link DelayQueueIntegrityChecker}.
 *
 * @param examined number of messages and dead letters, or keys, that were checked
 * @param findings the inconsistencies; empty if there are none
 * @param complete {@code false} if there may be more, because a report has at most
 * {@value DelayQueueIntegrityChecker#MAX_FINDINGS} findings
 * @see DelayQueueIntegrityChecker
 */
public record IntegrityReport(long examined, List<Finding> findings, boolean complete) {

    public IntegrityReport {
        findings = List.copyOf(findings);
    }

    /** Returns whether the check was complete and found nothing. */
    public boolean isSound() {
        return this.findings.isEmpty() && this.complete;
    }

}

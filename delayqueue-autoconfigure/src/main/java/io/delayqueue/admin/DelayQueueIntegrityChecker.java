package io.delayqueue.admin;

import io.delayqueue.StoreRefusedException;
import io.delayqueue.StoreUnavailableException;

/**
 * Checks the integrity of the stored data: every message is in exactly one state, there
 * are no orphaned entries, and every key is in its partition. Changes nothing: each
 * finding proposes a repair for an operator to decide on.
 * <p>
 * Can run while the queue is in use: a message that changes its state during the check is
 * not reported. Reads every message, so it takes time, but memory use does not grow with
 * their number. Implementations are thread-safe. <pre class="code">
 * IntegrityReport report = checker.check("order-timeout");
 * report.findings().forEach((finding) -&gt; System.out.println(finding.kind() + " " + finding.id()));
 * </pre>
 */
public interface DelayQueueIntegrityChecker {

    /** Maximum number of findings in a report. */
    int MAX_FINDINGS = 1_000;

    /**
     * Checks all stored data of a queue, in all its partitions.
     * @param queue its name
     * @return the number of checked entries, and the findings
     * @throws StoreUnavailableException if the store does not answer
     * @throws StoreRefusedException if the user of the store lacks a permission to read
     */
    IntegrityReport check(String queue);

    /**
     * Checks the names of all keys in the namespace, to find those that no queue uses.
     * Does not read their values.
     * @return the number of keys, and a finding for each unused one
     * @throws StoreUnavailableException if the store does not answer
     */
    IntegrityReport checkKeys();

}

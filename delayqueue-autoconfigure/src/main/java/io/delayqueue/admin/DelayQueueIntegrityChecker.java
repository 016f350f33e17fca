package io.delayqueue.admin;

import io.delayqueue.StoreRefusedException;
import io.delayqueue.StoreUnavailableException;

/**
 * Looks whether what is stored is sound: every message in exactly one place, nothing left
 * over, every key where it belongs. Changes nothing: each finding says what would repair
 * it, for people to decide.
 * <p>
 * May be asked while the queue is in use: a message that moves meanwhile is no finding.
 * Takes its time, as it reads each message, and little memory however many there are.
 * Implementations are thread-safe.
 */
public interface DelayQueueIntegrityChecker {

    /** Most findings that are told at once. */
    int MOST_FINDINGS = 1_000;

    /**
     * Looks at everything that is stored of a queue, in all its partitions.
     * @param queue its name
     * @return what was looked at, and what is wrong
     * @throws StoreUnavailableException if the store does not answer
     * @throws StoreRefusedException if the user of the store may not look
     */
    IntegrityReport examine(String queue);

    /**
     * Looks at the names of all keys in the namespace for those that no queue uses. What
     * is in them is not looked at.
     * @return how many keys there are, and those that nobody looks into
     * @throws StoreUnavailableException if the store does not answer
     */
    IntegrityReport examineKeys();

}

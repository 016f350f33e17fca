package io.delayqueue.journal;

/**
 * Counts what a restore did, or would do in a dry run.
 *
 * @param restored messages and dead letters that Redis did not hold, and were stored
 * again; in a dry run the messages that it does not hold, and all dead letters, which are
 * not looked up
 * @param known messages that Redis holds, or that have ended
 * @param skipped messages that the plan leaves out as expired; in a restore of all queues
 * also those of a queue that belongs to another journal, or of a database that is older
 * than Redis
 * @param failed messages whose call failed; a later restore offers them again
 * @see JournalOperations
 */
public record RestoreReport(long restored, long known, long skipped, long failed) {

    static final RestoreReport NONE = new RestoreReport(0, 0, 0, 0);

    RestoreReport plus(RestoreReport other) {
        return new RestoreReport(this.restored + other.restored, this.known + other.known, this.skipped + other.skipped,
                this.failed + other.failed);
    }

    @Override
    public String toString() {
        return "%d restored, %d known, %d skipped, %d failed".formatted(this.restored, this.known, this.skipped,
                this.failed);
    }

}

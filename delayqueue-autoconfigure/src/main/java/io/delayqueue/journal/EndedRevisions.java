package io.delayqueue.journal;

import java.util.Arrays;
import java.util.List;

import io.delayqueue.QueueName;

/**
 * Reads the revisions of a queue's messages that have ended lately, in parts that fit in
 * memory. The last ends come first, as a copy of the store that is a few seconds old
 * brings back only these.
 * <p>
 * <strong>Threads.</strong> Confined to that of the reconciler.
 */
final class EndedRevisions {

    /**
     * Maximum number of revisions of a part, beside those of its last row: 16 MB. The
     * messages of the store are compared with one part after another.
     */
    static final int LIMIT = 2_000_000;

    private final EndedTable table;

    private final QueueName queue;

    private final int limit;

    /** The revisions of the present part, sorted once it is complete. */
    private long[] revisions = {};

    private int size;

    /** The last row that was read. */
    private EndedTable.Position last = EndedTable.Position.BEGIN;

    private boolean complete;

    /** Whether there are no rows behind the present part. */
    private boolean exhausted;

    /**
     * Creates a reader before the first part.
     * @param limit the number of revisions that complete a part
     */
    EndedRevisions(EndedTable table, QueueName queue, int limit) {
        this.table = table;
        this.queue = queue;
        this.limit = limit;
    }

    /** Returns whether all rows of the present part are read. */
    boolean isComplete() {
        return this.complete;
    }

    /** Reads the next page of rows of a part that is not complete. */
    void readPage() {
        List<EndedTable.Batch> page = this.table.page(this.queue, this.last);
        int read = 0;
        while (read < page.size() && this.size < this.limit) {
            EndedTable.Batch batch = page.get(read++);
            add(batch.revisions());
            this.last = batch.position();
        }
        this.exhausted = read == page.size() && read < EndedTable.PAGE;
        this.complete = this.exhausted || this.size >= this.limit;
        if (this.complete) {
            Arrays.sort(this.revisions, 0, this.size);
        }
    }

    private void add(long[] more) {
        int total = this.size + more.length;
        if (total > this.revisions.length) {
            int doubled = Math.min(2 * this.revisions.length, this.limit);
            this.revisions = Arrays.copyOf(this.revisions, Math.max(total, doubled));
        }
        System.arraycopy(more, 0, this.revisions, this.size, more.length);
        this.size = total;
    }

    /** Returns whether a revision is in the present part, which is complete. */
    boolean contains(long revision) {
        return Arrays.binarySearch(this.revisions, 0, this.size, revision) >= 0;
    }

    /** Returns the number of revisions of the present part. */
    int size() {
        return this.size;
    }

    /**
     * Begins the next part.
     * @return whether there is one; not if no part was read
     */
    boolean next() {
        boolean further = this.complete && !this.exhausted;
        this.complete = false;
        this.size = 0;
        return further;
    }

}

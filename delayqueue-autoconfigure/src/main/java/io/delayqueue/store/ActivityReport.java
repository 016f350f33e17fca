package io.delayqueue.store;

import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Holds what a node did since its last report.
 *
 * @param node the id of this run of the process
 * @param number counts the reports of the node, from 1; a report that is sent again has
 * the number of the first time
 * @param unanswered how long the store has not answered this node before this report;
 * zero if it has
 * @param counts the handler starts by {@linkplain LatenessClasses class of lateness},
 * then the failed attempts, by queue; counts of the empty name belong to queues without a
 * place
 */
public record ActivityReport(String node, long number, Duration unanswered, Map<String, long[]> counts) {

    /** Position of the failed attempts in the counts. */
    public static final int FAILED = LatenessClasses.COUNT;

    /** Length of the counts of a queue. */
    public static final int FIELDS = FAILED + 1;

    /** Name of the queues without a place. */
    public static final String OTHERS = "";

    /**
     * Maximum number of queues in a report, so that none keeps the store busy for long.
     */
    public static final int MAX_QUEUES = 50;

    public ActivityReport {
        counts = Collections.unmodifiableMap(new LinkedHashMap<>(counts));
    }

    /** Returns whether the store did not answer this node before. */
    public boolean followsAnOutage() {
        return this.unanswered.compareTo(Duration.ZERO) > 0;
    }

    /** Returns the same report, sent again. */
    public ActivityReport unansweredFor(Duration unanswered) {
        return new ActivityReport(this.node, this.number, unanswered, this.counts);
    }

}

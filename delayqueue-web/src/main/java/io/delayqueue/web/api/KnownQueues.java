package io.delayqueue.web.api;

import io.delayqueue.QueueName;
import io.delayqueue.admin.DelayQueueInspector;
import io.delayqueue.admin.QueueOverview;
import io.delayqueue.admin.QueuePage;
import io.delayqueue.web.http.Problem;
import io.delayqueue.web.http.Problem.Kind;
import io.delayqueue.web.http.ProblemException;

/**
 * Rejects requests for queues that do not exist: those that hold nothing, are not paused,
 * and are not in the list of queues.
 */
public final class KnownQueues {

    private KnownQueues() {
    }

    /** Returns the counts of a queue; fails if it does not exist. */
    public static QueueOverview overview(DelayQueueInspector inspector, QueueName queue) {
        QueueOverview overview = inspector.overview(queue.value());
        if (isEmpty(overview) && !isListed(inspector, queue.value())) {
            throw new ProblemException(new Problem(Kind.NOT_FOUND,
                    "There is no queue '%s': it holds nothing, and no node has used it".formatted(queue)));
        }
        return overview;
    }

    private static boolean isEmpty(QueueOverview overview) {
        return overview.scheduled() + overview.waitingInGroup() + overview.leased() + overview.dead() == 0
                && !overview.paused();
    }

    private static boolean isListed(DelayQueueInspector inspector, String queue) {
        String cursor = null;
        do {
            QueuePage page = inspector.queues(cursor, DelayQueueInspector.MOST_QUEUES);
            if (page.queues().contains(queue)) {
                return true;
            }
            cursor = page.nextCursor();
        }
        while (cursor != null && cursor.compareTo(queue) < 0);
        return false;
    }

}

package io.delayqueue.web.api;

import io.delayqueue.QueueName;
import io.delayqueue.admin.DelayQueueInspector;
import io.delayqueue.admin.QueueOverview;
import io.delayqueue.web.http.Problem;
import io.delayqueue.web.http.Problem.Kind;
import io.delayqueue.web.http.ProblemException;
import org.jspecify.annotations.Nullable;

/**
 * Rejects requests for queues that do not exist: those that hold nothing, are not paused,
 * and are not in the list of queues.
 */
public final class QueueExistenceCheck {

    /** The characters of {@link QueueName}, in order. */
    private static final String CHARACTERS = "-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";

    private static final int MAX_LENGTH = 64;

    private QueueExistenceCheck() {
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

    /** Reads one name, however many queues there are. */
    private static boolean isListed(DelayQueueInspector inspector, String queue) {
        return inspector.queues(predecessor(queue), 1).queues().contains(queue);
    }

    /**
     * Returns the last possible name before a queue's in the order of the list;
     * {@code null} if there is none.
     */
    static @Nullable String predecessor(String queue) {
        int end = queue.length() - 1;
        char last = queue.charAt(end);
        String before = queue.substring(0, end);
        char least = before.isEmpty() ? '0' : CHARACTERS.charAt(0);
        if (last == least) {
            return before.isEmpty() ? null : before;
        }
        String shorter = before + CHARACTERS.charAt(CHARACTERS.indexOf(last) - 1);
        return shorter + "z".repeat(MAX_LENGTH - shorter.length());
    }

}

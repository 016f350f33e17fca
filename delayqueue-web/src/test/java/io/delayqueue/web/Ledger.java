package io.delayqueue.web;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.journal.JournalOperations;
import io.delayqueue.journal.RestorePlan;
import io.delayqueue.journal.RestoreRefusedException;
import io.delayqueue.journal.RestoreReport;
import io.delayqueue.journal.RestoreStep;
import org.jspecify.annotations.Nullable;

/**
 * Has a ledger of one queue with messages for three steps. The real one is tested in the
 * module of the journal.
 */
public final class Ledger implements JournalOperations {

    private static final List<RestoreStep> STEPS = List.of(new RestoreStep(new RestoreReport(998, 2, 0, 0), "1_1"),
            new RestoreStep(new RestoreReport(200, 0, 3, 1), "2_2"),
            new RestoreStep(new RestoreReport(0, 0, 0, 0), null));

    private final String queue;

    private final List<RestorePlan> plans = new CopyOnWriteArrayList<>();

    public Ledger(String queue) {
        this.queue = queue;
    }

    /** Returns the plan of each step that was taken. */
    public List<RestorePlan> plans() {
        return this.plans;
    }

    @Override
    public boolean covers(String queue) {
        return this.queue.equals(queue);
    }

    @Override
    public RestoreReport restore(RestorePlan plan) {
        throw new UnsupportedOperationException();
    }

    @Override
    public RestoreStep restore(RestorePlan plan, @Nullable String cursor) {
        if ("away".equals(plan.id())) {
            throw new StoreUnavailableException("away", Effect.NONE, null);
        }
        if ("foreign".equals(plan.id())) {
            throw new RestoreRefusedException("Queue 'orders' is not restored: it belongs to another journal");
        }
        if (cursor != null && !cursor.matches("[12]_[12]")) {
            throw new IllegalArgumentException("Cursor is not valid");
        }
        this.plans.add(plan);
        return STEPS.get((cursor == null) ? 0 : Integer.parseInt(cursor.substring(0, 1)));
    }

}

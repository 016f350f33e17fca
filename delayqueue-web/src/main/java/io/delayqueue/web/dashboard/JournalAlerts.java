package io.delayqueue.web.dashboard;

import java.util.ArrayList;
import java.util.List;

import io.delayqueue.journal.JournalStatus;
import io.delayqueue.web.dashboard.Alert.Severity;
import io.delayqueue.web.http.Json;

/** Converts the state of this node's journal to alerts. */
final class JournalAlerts {

    private static final int MAX_DETAIL = 500;

    private JournalAlerts() {
    }

    static List<Alert> of(JournalStatus journal) {
        List<Alert> alerts = new ArrayList<>();
        journal.problems()
            .forEach((problem) -> alerts.add(new Alert(Severity.ERROR, "The journal needs attention", null,
                    Json.line("The node that serves this page reports: %s.".formatted(problem), MAX_DETAIL),
                    "Check that the database is the one of these queues, and that this node can reach it and Redis.")));
        journal.restoring()
            .forEach((queue) -> alerts.add(new Alert(Severity.INFO, "The queue is compared with its journal", queue,
                    "Redis may have lost messages of it, or this node has just started. Claims may be held back meanwhile.",
                    "Wait until it is done. The log has the counts if messages were missing.")));
        return alerts;
    }

}

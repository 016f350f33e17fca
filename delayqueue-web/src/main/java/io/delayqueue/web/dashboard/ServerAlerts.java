package io.delayqueue.web.dashboard;

import io.delayqueue.store.ServerIssue;
import io.delayqueue.web.dashboard.Alert.Severity;

/** Converts issues of the Redis server to alerts. */
final class ServerAlerts {

    private ServerAlerts() {
    }

    static Alert of(ServerIssue issue) {
        String redis = issue.at().isEmpty() ? "Redis" : "Redis at " + issue.at();
        return switch (issue.kind()) {
            case SILENT -> new Alert(Severity.ERROR, "Redis does not respond", null,
                    "%s did not respond to the last check: %s.".formatted(redis, issue.detail()),
                    "Check that it is running, and that this node can reach it. Its messages wait until it is back, or until "
                            + "a replica has replaced it.");
            case EVICTS -> new Alert(Severity.ERROR, "Redis evicts messages when it is full", null,
                    "%s has maxmemory and the maxmemory-policy '%s': when its memory is full, it removes keys, and with them messages, without notice."
                        .formatted(redis, issue.detail()),
                    "Set maxmemory-policy to noeviction, by CONFIG SET and in its configuration: a full Redis then rejects "
                            + "sends, and their callers get an error. If it is also a cache, use a separate Redis for the queues.");
            case NEARLY_FULL -> new Alert(Severity.WARNING, "Redis is nearly full", null,
                    "%s uses %s of its limit. When it is full, sends are rejected; stored messages are still handled."
                        .formatted(redis, issue.detail()),
                    "Give it more memory, or find the queue that has grown and purge dead letters that are no longer needed.");
            case REFUSES -> new Alert(Severity.ERROR, "Redis rejects writes", null,
                    "%s returned: %s. No message can be sent, claimed or acknowledged meanwhile.".formatted(redis,
                            issue.detail()),
                    "Fix the reported error. READONLY: the application is connected to a replica. MISCONF: its disk is "
                            + "full or not writable. NOREPLICAS: too few replicas are connected.");
            case FORBIDS -> new Alert(Severity.ERROR, "The Redis user lacks a permission", null,
                    "%s returned: %s.".formatted(redis, issue.detail()),
                    "Permit the user this command on the keys of the namespace.");
            case PUBLISH_DENIED -> new Alert(Severity.WARNING, "The Redis user may not publish wake-ups", null,
                    "%s rejects them. Messages may be found only by the safety poll, some seconds late."
                        .formatted(redis),
                    "Permit the user the channels '<namespace>:{*'.");
        };
    }

}

package io.delayqueue.web.dashboard;

import io.delayqueue.store.ServerIssue;
import io.delayqueue.web.dashboard.Alert.Severity;

/** Converts issues of the Redis server to alerts. */
final class ServerAlerts {

    private ServerAlerts() {
    }

    static Alert of(ServerIssue fault) {
        String redis = fault.at().isEmpty() ? "Redis" : "Redis at " + fault.at();
        return switch (fault.kind()) {
            case SILENT -> new Alert(Severity.ERROR, "Redis does not answer", null,
                    "%s did not answer when it was looked at, a moment ago: %s.".formatted(redis, fault.detail()),
                    "See whether it runs, and whether this node can reach it. What it holds waits until it is back, or until "
                            + "a replica has taken its place.");
            case EVICTS -> new Alert(Severity.ERROR, "Redis removes messages when it is full", null,
                    "%s has maxmemory and the maxmemory-policy '%s': once its memory is full it removes keys, and with them messages, and nobody is told."
                        .formatted(redis, fault.detail()),
                    "Set maxmemory-policy to noeviction, by CONFIG SET and in its configuration: a full Redis then refuses "
                            + "sends, which their callers are told. If it is a cache as well, give the queues a Redis of their own.");
            case NEARLY_FULL -> new Alert(Severity.WARNING, "Redis is nearly full", null,
                    "%s uses %s that it may use. Once it is full sends are refused; what is stored is handled all the same."
                        .formatted(redis, fault.detail()),
                    "Give it more memory, or see which queue has grown and purge dead letters that nobody needs.");
            case REFUSES -> new Alert(Severity.ERROR, "Redis takes no writes", null,
                    "%s answers: %s. Nothing can be sent, claimed or acknowledged meanwhile.".formatted(redis,
                            fault.detail()),
                    "Mend what the error names. READONLY: the application is connected to a replica. MISCONF: its disk is "
                            + "full or not writable. NOREPLICAS: too few replicas are connected.");
            case FORBIDS -> new Alert(Severity.ERROR, "The Redis user lacks a right", null,
                    "%s answers: %s.".formatted(redis, fault.detail()),
                    "Allow the user that command on the keys of the namespace.");
            case MUTE -> new Alert(Severity.WARNING, "The Redis user may not publish wake-ups", null,
                    "%s refuses them. Messages may be found by the safety poll only, some seconds late."
                        .formatted(redis),
                    "Allow the user the channels '<namespace>:{*'.");
        };
    }

}

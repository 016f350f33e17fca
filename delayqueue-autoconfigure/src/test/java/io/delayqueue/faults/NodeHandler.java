package io.delayqueue.faults;

import java.util.ArrayList;
import java.util.List;

import io.delayqueue.DelayedListener;
import io.delayqueue.Delivery;
import io.delayqueue.faults.Event.Kind;

/**
 * Handles what nodes send, and writes it down. Threads: safe.
 */
final class NodeHandler {

    private final HistoryFile history;

    private final Points points;

    private final long slowMillis;

    /**
     * @param slowMillis how long a slow message takes
     */
    NodeHandler(HistoryFile history, Points points, long slowMillis) {
        this.history = history;
        this.points = points;
        this.slowMillis = slowMillis;
    }

    @DelayedListener(queues = { Workload.PLAIN, Workload.SPREAD, Workload.GROUPED })
    void handle(Job job, Delivery delivery) throws Exception {
        long call = this.history.nextCall();
        List<String> facts = new ArrayList<>(List.of("number", job.number(), "queue", delivery.queue(), "attempt",
                Integer.toString(delivery.attempt()), "lapses", Integer.toString(delivery.lapses())));
        delivery.group().ifPresent((group) -> facts.addAll(List.of("group", group)));
        this.history.write(Kind.HANDLE, delivery.id(), call, facts.toArray(String[]::new));
        this.points.pass("handler.begin");
        boolean good = false;
        try {
            good = work(job, delivery);
        }
        finally {
            this.points.pass("handler.end");
            this.history.write(Kind.HANDLE_END, delivery.id(), call, "number", job.number(), "result",
                    good ? "ok" : "failed");
        }
        if (!good) {
            throw new IllegalStateException("It is the fate of " + job.number());
        }
    }

    private boolean work(Job job, Delivery delivery) throws InterruptedException {
        switch (job.fate()) {
            case SLOW -> Thread.sleep(this.slowMillis);
            case POISON -> Runtime.getRuntime().halt(1);
            default -> {
            }
        }
        return switch (job.fate()) {
            case DOOMED -> false;
            case FAILS_ONCE -> delivery.attempt() > 1;
            default -> true;
        };
    }

}

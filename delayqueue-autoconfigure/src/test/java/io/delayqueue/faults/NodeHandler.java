package io.delayqueue.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

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

    private final CountDownLatch told = new CountDownLatch(1);

    private final Set<String> cameBack = ConcurrentHashMap.newKeySet();

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
        if (!good && job.fate() != Job.Fate.COMES_BACK) {
            throw new IllegalStateException("It is the fate of " + job.number());
        }
    }

    private boolean work(Job job, Delivery delivery) throws Exception {
        switch (job.fate()) {
            case SLOW -> Thread.sleep(this.slowMillis);
            case DEAF -> sleepDeeply();
            case WAITS -> this.told.await();
            case HANGS -> new CountDownLatch(1).await();
            case POISON -> Runtime.getRuntime().halt(1);
            case STACK_OVERFLOW -> recurse(0);
            case CANNOT_BE_LINKED -> throw new NoClassDefFoundError("It is the fate of " + job.number());
            case OWN_ERROR -> throw new ItsOwnError("It is the fate of " + job.number());
            case FILLS_THE_HEAP -> fillTheHeap();
            default -> {
            }
        }
        return switch (job.fate()) {
            case DOOMED -> false;
            case FAILS_ONCE -> delivery.attempt() > 1;
            case COMES_BACK -> {
                boolean first = this.cameBack.add(job.number());
                if (first) {
                    delivery.retryAfter(Duration.ofMillis(50));
                }
                yield !first;
            }
            default -> true;
        };
    }

    /** Lets what waits go on, now and from now on. */
    void goOn() {
        this.told.countDown();
    }

    private void sleepDeeply() {
        long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(this.slowMillis);
        while (System.nanoTime() - until < 0) {
            // Clears the interrupt, too.
            Thread.interrupted();
            LockSupport.parkNanos(this, until - System.nanoTime());
        }
    }

    private static int recurse(int depth) {
        return recurse(depth + 1) + 1;
    }

    private static void fillTheHeap() {
        List<byte[]> all = new ArrayList<>();
        while (true) {
            all.add(new byte[64 * 1024]);
        }
    }

    private static final class ItsOwnError extends Error {

        private static final long serialVersionUID = 1L;

        ItsOwnError(String message) {
            super(message);
        }

    }

}

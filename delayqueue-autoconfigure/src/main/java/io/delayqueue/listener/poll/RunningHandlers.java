package io.delayqueue.listener.poll;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Interrupts the handlers that outlive a stop: a hanging one would keep its thread, and
 * thus the class loader of an application that is restarted in the same JVM.
 * <p>
 * <strong>Threads.</strong> Handler threads begin and end; the thread that stops the
 * application interrupts, once, and waits.
 */
final class RunningHandlers {

    private final ConcurrentMap<InFlightMessage, HandlerTimeout> running = new ConcurrentHashMap<>();

    /** Messages of interrupted handlers that are not settled yet. */
    private final Set<InFlightMessage> interrupted = ConcurrentHashMap.newKeySet();

    private final CountDownLatch allSettled = new CountDownLatch(1);

    private volatile boolean interrupting;

    void began(InFlightMessage lease, HandlerTimeout handler) {
        this.running.put(lease, handler);
    }

    /** Records that a handler ended; its message is settled or left to its lease. */
    void ended(InFlightMessage lease) {
        this.running.remove(lease);
        this.interrupted.remove(lease);
        if (this.interrupting && this.interrupted.isEmpty()) {
            this.allSettled.countDown();
        }
    }

    /**
     * Interrupts all handlers that run on a thread, not those whose futures are pending.
     * Then waits until the messages of those that heed it are settled.
     * @param limit longest time to wait
     * @return how many were interrupted
     */
    int interrupt(Duration limit) throws InterruptedException {
        this.running.forEach((lease, handler) -> {
            this.interrupted.add(lease);
            if (!handler.interrupt()) {
                this.interrupted.remove(lease);
            }
        });
        int count = this.interrupted.size();
        this.interrupting = true;
        if (!this.interrupted.isEmpty()) {
            this.allSettled.await(Nanos.of(limit), TimeUnit.NANOSECONDS);
        }
        return count;
    }

}

package io.delayqueue;

import java.util.List;

/**
 * Reports that Redis had lost messages of ledgers, and that this node has restored them
 * from their rows without being asked. Published as an application event once the restore
 * has ended, on the thread of the reconciler, which a listener must not block, and logged
 * as a warning. Follows a loss that this node has noticed; messages that the sweep
 * restores one by one are logged alone.
 * <p>
 * Notifies the operators: <pre class="code">
 * &#64;EventListener
 * void restored(LedgerRestoredEvent event) {
 *     alerts.send(event.restored() + " messages of " + event.queues() + " were restored");
 * }
 * </pre>
 *
 * @param queues the queues that were restored together, by name
 * @param restored the number of their messages and dead letters that were missing
 */
public record LedgerRestoredEvent(List<String> queues, long restored) {

    public LedgerRestoredEvent {
        queues = List.copyOf(queues);
    }

}

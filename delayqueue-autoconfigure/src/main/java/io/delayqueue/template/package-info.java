/**
 * Sends, receives and steers messages: the bean behind
 * {@link io.delayqueue.DelayQueueOperations}. Start at {@code DelayQueueTemplate}, which
 * checks arguments and says who does the rest:
 * <ul>
 * <li>{@code MessageWriter} writes a message as it is stored and gives it an id;</li>
 * <li>{@code BatchSender} stores many and accounts for each of them;</li>
 * <li>{@code AfterCommitSends} keeps messages back until a transaction has
 * committed;</li>
 * <li>{@code Receiver} looks for a message and waits for one, woken by
 * {@code Bells};</li>
 * <li>{@code Leases} claims and settles, {@code LeasedMessage} does so for a caller;</li>
 * <li>{@code StoredDeadLetters} acts on dead letters.</li>
 * </ul>
 * Everything here talks to the ports of {@code io.delayqueue.engine}; {@code StoreCalls}
 * is the only place that waits for their answers. No JVM's date is read: elapsed time
 * comes from a monotonic clock that is passed in. Payloads are neither logged nor quoted.
 */
@NullMarked
package io.delayqueue.template;

import org.jspecify.annotations.NullMarked;

/**
 * Implements {@link io.delayqueue.DelayQueueOperations}. Start at
 * {@code DelayQueueTemplate}, which checks arguments and delegates to the following
 * classes:
 * <ul>
 * <li>{@code MessagePreparer} writes a message in its stored form and assigns its
 * id;</li>
 * <li>{@code BatchSender} stores many messages and accounts for each of them;</li>
 * <li>{@code AfterCommitSender} holds back messages until a transaction has
 * committed;</li>
 * <li>{@code Receiver} polls for a message and waits for one, with
 * {@code io.delayqueue.consume}; {@code LeasedReceivedMessage} settles it;</li>
 * <li>{@code DeadLetterTemplate} redrives and purges dead letters.</li>
 * </ul>
 * This package uses the ports of {@code io.delayqueue.store}; only
 * {@code BlockingStoreCalls} waits for their answers. It does not read the JVM's date:
 * elapsed time comes from a monotonic clock that is passed in. Payloads are neither
 * logged nor quoted.
 */
@NullMarked
package io.delayqueue.template;

import org.jspecify.annotations.NullMarked;

package io.delayqueue;

/**
 * Reports that this process dead-lettered a message. Published as an application event,
 * on the thread that settled the message, or on a separate thread if an HTTP consumer
 * settled it. An exception thrown by an event listener is logged and has no other effect.
 * The event is published more than once if an HTTP consumer repeats a call whose response
 * was lost, or repeats it on another node; {@code deadLetterId} is the same each time.
 * <pre class="code">
 * &#64;EventListener
 * void on(DeadLetterEvent event) {
 *     alerts.raise("Message %s was dead-lettered: %s".formatted(event.id(), event.reason()));
 * }
 * </pre>
 *
 * @param queue the queue
 * @param id the id of the message
 * @param deadLetterId the id of the dead letter, for
 * {@link DeadLetterOperations#redrive(String)}
 * @param failures handler failures, including the last one
 * @param reason why it was dead-lettered, in one line
 */
public record DeadLetterEvent(String queue, String id, String deadLetterId, int failures, String reason) {
}

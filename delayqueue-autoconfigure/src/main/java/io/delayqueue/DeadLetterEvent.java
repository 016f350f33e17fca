package io.delayqueue;

/**
 * Published as an application event, on the thread that settled the message, after a
 * message became a dead letter in this process; on a thread of its own if that was done
 * for a consumer over HTTP. A listener that throws is logged and changes nothing.
 * Published more than once where a consumer over HTTP repeats a call whose outcome was
 * lost, or repeats it on another node: the letter id is the same each time.
 *
 * @param queue the queue
 * @param id the id of the message
 * @param letterId names the dead letter, for {@link DeadLetterOperations#redrive(String)}
 * @param failures handler failures, the last one included
 * @param reason why it died, in one line
 */
public record DeadLetterEvent(String queue, String id, String letterId, int failures, String reason) {
}

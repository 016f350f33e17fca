package io.delayqueue.store;

/**
 * Holds a dead letter that a journal has recorded.
 *
 * @param deadLetterId its id
 * @param content its content, in the form of the store; must not be changed
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
public record RecordedDeadLetter(String deadLetterId, byte[] content) {

}

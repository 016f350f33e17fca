package io.delayqueue;

import java.util.List;

/**
 * Reports that messages could not be sent after a commit. Published as an application
 * event on the thread that committed. The transaction stays committed, and the failure is
 * also logged as an error. The caller of the send receives no exception.
 *
 * @param messages the messages that are not stored, or may not be
 * @param failure the cause; its {@link DelayQueueException#effect()} says whether the
 * messages may be stored
 * @see DeadLetterEvent
 */
public record AfterCommitSendFailedEvent(List<DelayedMessage> messages, DelayQueueException failure) {

    public AfterCommitSendFailedEvent {
        messages = List.copyOf(messages);
    }

}

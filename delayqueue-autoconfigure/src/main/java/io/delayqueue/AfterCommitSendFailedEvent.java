package io.delayqueue;

import java.util.List;

/**
 * Published as an application event, on the thread that committed, when messages that
 * were to be sent after a commit could not be sent. The transaction stays committed, and
 * the failure is logged as an error as well. This is the only way such a failure shows.
 *
 * @param messages the messages that are not, or not for certain, stored
 * @param failure why; its {@link DelayQueueException#effect()} says whether they may be
 * stored nevertheless
 */
public record AfterCommitSendFailedEvent(List<DelayedMessage> messages, DelayQueueException failure) {

    public AfterCommitSendFailedEvent {
        messages = List.copyOf(messages);
    }

}

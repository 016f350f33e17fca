package io.delayqueue.admin;

import java.util.List;

import io.delayqueue.MessageSummary;
import org.jspecify.annotations.Nullable;

/**
 * Holds a page of the messages of a queue.
 *
 * @param messages the messages, in the order of the list
 * @param nextCursor the cursor of the next page; {@code null} if this is the last one
 * @see DelayQueueInspector#messages
 */
public record MessagePage(List<MessageSummary> messages, @Nullable String nextCursor) {

    public MessagePage {
        messages = List.copyOf(messages);
    }

}

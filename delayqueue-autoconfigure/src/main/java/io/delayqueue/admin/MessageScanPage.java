package io.delayqueue.admin;

import java.util.List;

import io.delayqueue.MessageSummary;
import org.jspecify.annotations.Nullable;

/**
 * Holds a part of a scan of a queue, in no order.
 *
 * @param messages messages that were found; possibly none although others follow
 * @param deadLetters dead letters that were found
 * @param examined about how many messages and dead letters this part examined
 * @param nextCursor the cursor of the next part; {@code null} if this is the last one
 * @see DelayQueueInspector#scan
 */
public record MessageScanPage(List<MessageSummary> messages, List<DeadLetterSummary> deadLetters, long examined,
        @Nullable String nextCursor) {

    public MessageScanPage {
        messages = List.copyOf(messages);
        deadLetters = List.copyOf(deadLetters);
    }

}

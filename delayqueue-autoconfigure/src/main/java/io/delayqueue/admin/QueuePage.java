package io.delayqueue.admin;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Holds a page of queue names.
 *
 * @param queues the names in order
 * @param nextCursor the cursor of the next page; {@code null} if this is the last one
 * @see DelayQueueInspector
 */
public record QueuePage(List<String> queues, @Nullable String nextCursor) {

    public QueuePage {
        queues = List.copyOf(queues);
    }

}

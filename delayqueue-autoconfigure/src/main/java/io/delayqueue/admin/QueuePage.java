package io.delayqueue.admin;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Some of the queues.
 *
 * @param queues their names, in order
 * @param nextCursor where the next page begins; {@code null} if this is the last one
 */
public record QueuePage(List<String> queues, @Nullable String nextCursor) {

    public QueuePage {
        queues = List.copyOf(queues);
    }

}

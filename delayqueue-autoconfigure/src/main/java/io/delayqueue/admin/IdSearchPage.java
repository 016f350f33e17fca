package io.delayqueue.admin;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Holds a part of a search for an id in all queues.
 *
 * @param matches what was found
 * @param queues the queues that this part has searched completely
 * @param unread the queues that could not be read
 * @param nextCursor the cursor of the next part; {@code null} if this is the last one
 * @see DelayQueueInspector#search
 */
public record IdSearchPage(List<IdMatch> matches, List<String> queues, List<String> unread,
        @Nullable String nextCursor) {

    public IdSearchPage {
        matches = List.copyOf(matches);
        queues = List.copyOf(queues);
        unread = List.copyOf(unread);
    }

}

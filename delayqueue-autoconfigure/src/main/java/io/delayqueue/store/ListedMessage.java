package io.delayqueue.store;

import java.util.List;

import io.delayqueue.MessageSummary;
import io.delayqueue.admin.MessagePage;
import io.delayqueue.admin.MessageSelection;

/**
 * A message in a list.
 *
 * @param position where it stands
 * @param message what the list says of it
 */
public record ListedMessage(MessageCursor position, MessageSummary message) {

    /**
     * Makes one page of those of several partitions, which began at the same position.
     * @param limit most messages of the page; each of them may have one more
     */
    public static MessagePage page(MessageSelection listing, List<List<ListedMessage>> parts, int limit) {
        List<ListedMessage> all = parts.stream()
            .flatMap(List::stream)
            .sorted((one, other) -> one.position().compareTo(other.position()))
            .toList();
        List<MessageSummary> messages = all.stream().limit(limit).map(ListedMessage::message).toList();
        return new MessagePage(messages, (all.size() <= limit) ? null : all.get(limit - 1).position().cursor(listing));
    }

}

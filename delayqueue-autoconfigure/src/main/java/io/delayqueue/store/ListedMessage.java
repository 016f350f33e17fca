package io.delayqueue.store;

import java.util.List;

import io.delayqueue.MessageSummary;
import io.delayqueue.admin.MessagePage;
import io.delayqueue.admin.MessageSelection;

/**
 * Holds a message of a list with its position.
 *
 * @param position its position in the list
 * @param message the listed data
 */
public record ListedMessage(MessageCursor position, MessageSummary message) {

    /**
     * Merges the lists of several partitions that started at the same position into one
     * page.
     * @param limit maximum number of messages in the page; each list may have one more
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

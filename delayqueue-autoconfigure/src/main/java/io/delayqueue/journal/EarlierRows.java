package io.delayqueue.journal;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

import io.delayqueue.OnDuplicate;
import io.delayqueue.QueueName;
import io.delayqueue.store.NewMessage;

/**
 * Caches the accepted rows of the ids of a batch of requests, as read before the batch is
 * offered. Immutable.
 */
final class EarlierRows {

    private final Map<Id, List<JournalRow>> rows;

    private EarlierRows(Map<Id, List<JournalRow>> rows) {
        this.rows = rows;
    }

    /** Reads the rows that requests may replace, cancel or reschedule. */
    static EarlierRows ofChanges(JournalTable table, List<JournalRow> requests) {
        return of(table, requests.stream().filter(EarlierRows::changes).toList());
    }

    /** Reads the rows of the ids of requests. */
    static EarlierRows of(JournalTable table, List<JournalRow> requests) {
        Map<QueueName, Set<String>> ids = new HashMap<>();
        requests.forEach((row) -> ids.computeIfAbsent(row.request().queue(), (queue) -> new LinkedHashSet<>())
            .add(row.request().id()));
        Map<Id, List<JournalRow>> found = new HashMap<>();
        ids.forEach((queue, names) -> table.acceptedOf(queue, List.copyOf(names))
            .forEach((row) -> found.computeIfAbsent(Id.of(row), (id) -> new ArrayList<>()).add(row)));
        return new EarlierRows(found);
    }

    private static boolean changes(JournalRow row) {
        return row.request().message() == null || isReplacement(row);
    }

    /** Returns whether a request is a send that replaces earlier messages of its id. */
    static boolean isReplacement(JournalRow row) {
        NewMessage message = row.request().message();
        return message != null && message.onDuplicate() == OnDuplicate.REPLACE;
    }

    /** Returns the rows of the id of a request that are earlier, in their order. */
    List<JournalRow> before(JournalRow request) {
        return this.rows.getOrDefault(Id.of(request), List.of())
            .stream()
            .filter((row) -> row.revision() < request.revision())
            .toList();
    }

    /** Returns the row of the message that a request is about. */
    Optional<JournalRow> message(JournalRow request) {
        return before(request).stream().filter((row) -> row.request().message() != null).reduce((one, next) -> next);
    }

    /**
     * Returns the revisions of the messages that a cancel or a replacement makes void.
     */
    List<Long> voids(JournalRow request) {
        return (request.request().due() != null && request.request().message() == null) ? List.of()
                : before(request).stream()
                    .filter((row) -> row.request().message() != null)
                    .map(JournalRow::revision)
                    .toList();
    }

    /** Identifies a message in all queues. */
    private record Id(QueueName queue, String id) {

        static Id of(JournalRow row) {
            return new Id(row.request().queue(), row.request().id());
        }

    }

}

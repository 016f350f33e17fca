package io.delayqueue.web.api;

import java.time.Instant;

import io.delayqueue.DeadLetterBulkResult;
import io.delayqueue.DeadLetterFilter;
import io.delayqueue.DeadLetterOperations;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.QueueName;
import io.delayqueue.admin.DelayQueueInspector;
import io.delayqueue.web.http.ApiRequest;
import io.delayqueue.web.http.AuditPublisher;
import io.delayqueue.web.http.Json;
import io.delayqueue.web.http.JsonViews;
import io.delayqueue.web.http.ProblemException;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * Counts, redrives or purges the dead letters that match a filter, step by step. A count
 * returns its start on the store's clock as {@code diedBefore}: a change with that bound
 * affects only dead letters that were counted. Thread-safe.
 */
public final class DeadLetterBulkOperations {

    private final DelayQueueOperations operations;

    private final @Nullable DelayQueueInspector inspector;

    private final AuditPublisher audit;

    /**
     * Creates the operations.
     * @param inspector reads the store's time; without it counts have no bound of their
     * own
     */
    public DeadLetterBulkOperations(DelayQueueOperations operations, @Nullable DelayQueueInspector inspector,
            AuditPublisher audit) {
        this.operations = operations;
        this.inspector = inspector;
        this.audit = audit;
    }

    /** Counts in one step. */
    ObjectNode count(QueueName queue, DeadLetterFilter filter, @Nullable String cursor) {
        DeadLetterFilter counted = filter;
        if (cursor == null && filter.diedBefore() == null && this.inspector != null) {
            Instant now = this.inspector.overview(queue.value()).now();
            counted = filter.withDiedBetween(filter.diedFrom(), now);
        }
        return json(counted, letters(queue).count(counted, cursor));
    }

    /** Redrives in one step. */
    ObjectNode redrive(ApiRequest request, DeadLetterFilter filter, @Nullable String cursor) {
        return change(request, "redrive", filter, cursor, DeadLetterOperations::redrive);
    }

    /** Purges in one step. */
    ObjectNode purge(ApiRequest request, DeadLetterFilter filter, @Nullable String cursor) {
        return change(request, "purge", filter, cursor, DeadLetterOperations::purge);
    }

    /** Audits failures too, because part of the step may be done. */
    private ObjectNode change(ApiRequest request, String operation, DeadLetterFilter filter, @Nullable String cursor,
            Step step) {
        if (cursor == null && filter.diedBefore() == null) {
            throw ProblemException
                .invalid("Without a cursor, 'diedBefore' is needed to %s: use that of the count".formatted(operation));
        }
        DeadLetterBulkResult sweep = this.audit.of(request.change(operation, text(filter, cursor)),
                () -> step.take(letters(request.queue()), filter, cursor), DeadLetterBulkResult::changed);
        return json(filter, sweep);
    }

    /**
     * Formats the filter for the audit, without absent fields. Its length is bounded
     * because all fields are.
     */
    static String text(DeadLetterFilter filter, @Nullable String cursor) {
        ObjectNode json = JsonViews.object()
            .put("idPrefix", filter.idPrefix())
            .put("causeContains", filter.causeContains())
            .put("diedFrom", JsonViews.time(filter.diedFrom()))
            .put("diedBefore", JsonViews.time(filter.diedBefore()))
            .put("group", filter.group())
            .put("cursor", cursor);
        return Json.ascii(json.removeNulls());
    }

    private static ObjectNode json(DeadLetterFilter filter, DeadLetterBulkResult sweep) {
        return JsonViews.object()
            .put("examined", sweep.examined())
            .put("matched", sweep.matched())
            .put("changed", sweep.changed())
            .put("diedBefore", JsonViews.time(filter.diedBefore()))
            .put("nextCursor", sweep.nextCursor());
    }

    private DeadLetterOperations letters(QueueName queue) {
        return this.operations.deadLetters(queue.value());
    }

    /** Changes the matching dead letters. */
    @FunctionalInterface
    private interface Step {

        DeadLetterBulkResult take(DeadLetterOperations letters, DeadLetterFilter filter, @Nullable String cursor);

    }

}

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
 * Steps through the dead letters that a filter means. A count is bounded by the store's
 * time when it began and tells that bound: who then acts with it acts on no letter that
 * was not counted. Thread-safe.
 */
public final class DeadLetterBulkOperations {

    private final DelayQueueOperations operations;

    private final @Nullable DelayQueueInspector inspector;

    private final AuditPublisher audit;

    /**
     * Creates one.
     * @param inspector tells the store's time; without it counts have no bound of their
     * own
     */
    public DeadLetterBulkOperations(DelayQueueOperations operations, @Nullable DelayQueueInspector inspector,
            AuditPublisher audit) {
        this.operations = operations;
        this.inspector = inspector;
        this.audit = audit;
    }

    /** A step that only counts. */
    ObjectNode count(QueueName queue, DeadLetterFilter filter, @Nullable String cursor) {
        DeadLetterFilter counted = filter;
        if (cursor == null && filter.diedBefore() == null && this.inspector != null) {
            Instant now = this.inspector.overview(queue.value()).now();
            counted = filter.withDiedBetween(filter.diedFrom(), now);
        }
        return json(counted, letters(queue).count(counted, cursor));
    }

    /** A step that redrives. */
    ObjectNode redrive(ApiRequest request, DeadLetterFilter filter, @Nullable String cursor) {
        return change(request, "redrive", filter, cursor, DeadLetterOperations::redrive);
    }

    /** A step that purges. */
    ObjectNode purge(ApiRequest request, DeadLetterFilter filter, @Nullable String cursor) {
        return change(request, "purge", filter, cursor, DeadLetterOperations::purge);
    }

    /** Told to the audit also if it fails, as a part may be done by then. */
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

    /** For the audit: what is not given is left out; bounded, as all that is given is. */
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

    /** What is done to those that are meant. */
    @FunctionalInterface
    private interface Step {

        DeadLetterBulkResult take(DeadLetterOperations letters, DeadLetterFilter filter, @Nullable String cursor);

    }

}

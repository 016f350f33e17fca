package io.delayqueue.web.api;

import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.Supplier;

import io.delayqueue.CancelResult;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.MessageLimits;
import io.delayqueue.QueueName;
import io.delayqueue.RescheduleResult;
import io.delayqueue.StoredMessage;
import io.delayqueue.web.http.ApiViews;
import io.delayqueue.web.http.ApiRequest;
import io.delayqueue.web.http.RouteTable;
import io.delayqueue.web.http.AuditPublisher;
import io.delayqueue.web.http.AuditedOperation;
import io.delayqueue.web.http.Authority;
import io.delayqueue.web.http.JsonObjectReader;
import io.delayqueue.web.http.Problem;
import io.delayqueue.web.http.Problem.Kind;
import io.delayqueue.web.http.ProblemException;
import io.delayqueue.web.http.Responses;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

import org.springframework.http.HttpMethod;
import org.springframework.web.servlet.function.ServerResponse;

/** Finds, cancels and reschedules messages by id. */
public final class MessageRoutes {

    private final DelayQueueOperations operations;

    private final AuditPublisher audit;

    public MessageRoutes(DelayQueueOperations operations, AuditPublisher audit) {
        this.operations = operations;
        this.audit = audit;
    }

    public void addTo(RouteTable routes) {
        routes.add(HttpMethod.GET, "/queues/{queue}/messages/by-id", Authority.VIEW, this::find);
        routes.add(HttpMethod.DELETE, "/queues/{queue}/messages/by-id", Authority.OPERATE, this::cancel);
        routes.add(HttpMethod.PATCH, "/queues/{queue}/messages/by-id", Authority.OPERATE, this::reschedule);
        routes.add(HttpMethod.POST, "/queues/{queue}/messages/cancel", Authority.OPERATE, this::cancelAll);
        routes.add(HttpMethod.POST, "/queues/{queue}/messages/reschedule", Authority.OPERATE, this::rescheduleAll);
    }

    private ServerResponse find(ApiRequest request) {
        request.onlyQuery("id");
        StoredMessage message = this.operations.find(request.queue().value(), request.id())
            .orElseThrow(() -> notFound(request));
        return Responses.json(ApiViews.message(message, request.permits(Authority.PAYLOAD)));
    }

    private ServerResponse cancel(ApiRequest request) {
        request.onlyQuery("id");
        QueueName queue = request.queue();
        CancelResult result = this.audit.of(request.change("cancel", request.id()),
                () -> this.operations.cancel(queue.value(), request.id()),
                (answer) -> (answer == CancelResult.NOT_FOUND) ? 0 : 1);
        if (result == CancelResult.NOT_FOUND) {
            throw notFound(request);
        }
        return Responses.json(ApiViews.object().put("result", result.name()));
    }

    private ServerResponse reschedule(ApiRequest request) {
        request.onlyQuery("id");
        QueueName queue = request.queue();
        JsonObjectReader body = request.body("delayMillis", "dueAt");
        Instant dueAt = body.instant("dueAt");
        if ((dueAt != null) == (body.value("delayMillis") != null)) {
            throw ProblemException.invalid("Field 'delayMillis' or 'dueAt' is needed, and only one of them");
        }
        if (dueAt != null) {
            ProblemException.valid(() -> MessageLimits.requireDueAt(dueAt));
        }
        RescheduleResult result = this.audit.of(request.change("reschedule", request.id()),
                () -> (dueAt != null) ? this.operations.reschedule(queue.value(), request.id(), dueAt)
                        : this.operations.reschedule(queue.value(), request.id(), body.millis("delayMillis",
                                Duration.ZERO, Duration.ZERO, request.settings().maxDelay())),
                (answer) -> isChange(answer) ? 1 : 0);
        return switch (result) {
            case RESCHEDULED, DEFERRED, RECORDED -> Responses.json(ApiViews.object().put("result", result.name()));
            case LEASED -> throw new ProblemException(
                    new Problem(Kind.LEASED, "Message '%s' keeps its due time".formatted(request.id())));
            case NOT_FOUND -> throw notFound(request);
        };
    }

    private static boolean isChange(RescheduleResult result) {
        return result != RescheduleResult.NOT_FOUND && result != RescheduleResult.LEASED;
    }

    private ServerResponse cancelAll(ApiRequest request) {
        request.onlyQuery();
        List<String> ids = ids(request, request.body("ids"));
        return many(request, new Many("cancel", ids), () -> this.operations.cancelAll(request.queue().value(), ids),
                (result) -> result != CancelResult.NOT_FOUND);
    }

    private ServerResponse rescheduleAll(ApiRequest request) {
        request.onlyQuery();
        JsonObjectReader body = request.body("ids", "delayMillis");
        List<String> ids = ids(request, body);
        if (body.value("delayMillis") == null) {
            throw ProblemException.invalid("Field 'delayMillis' is needed");
        }
        Duration delay = body.millis("delayMillis", Duration.ZERO, Duration.ZERO, request.settings().maxDelay());
        return many(request, new Many("reschedule", ids),
                () -> this.operations.rescheduleAll(request.queue().value(), ids, delay), MessageRoutes::isChange);
    }

    private static List<String> ids(ApiRequest request, JsonObjectReader body) {
        List<String> ids = body.strings("ids", request.settings().maxBatch());
        ids.forEach((id) -> ProblemException.valid(() -> MessageLimits.requireId(id)));
        return ids;
    }

    /** Returns the result of each message. The audit lists all ids. */
    private <R extends Enum<R>> ServerResponse many(ApiRequest request, Many requested, Supplier<Map<String, R>> call,
            Predicate<R> changed) {
        AuditedOperation change = request.change(requested.operation(),
                String.join(" ", new LinkedHashSet<>(requested.ids())));
        Map<String, R> results = this.audit.of(change, call, (all) -> all.values().stream().filter(changed).count());
        ObjectNode json = ApiViews.object();
        ArrayNode array = json.putArray("results");
        results.forEach((id, result) -> array.add(ApiViews.object().put("id", id).put("result", result.name())));
        return Responses.json(json);
    }

    private static ProblemException notFound(ApiRequest request) {
        return new ProblemException(new Problem(Kind.NOT_FOUND,
                "Queue '%s' does not hold message '%s', or no longer does".formatted(request.queue(), request.id())));
    }

    /**
     * Holds an operation on several messages.
     *
     * @param operation the name of the operation
     * @param ids of the messages, validated
     */
    private record Many(String operation, List<String> ids) {
    }

}

package io.delayqueue.web.api;

import java.time.Instant;
import java.util.Set;
import java.util.function.Supplier;

import io.delayqueue.CauseGroup;
import io.delayqueue.DeadLetter;
import io.delayqueue.DeadLetterBulkResult;
import io.delayqueue.DeadLetterFilter;
import io.delayqueue.DeadLetterOperations;
import io.delayqueue.DeadLetterPage;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.QueueName;
import io.delayqueue.RedriveResult;
import io.delayqueue.admin.DeadLetterCauses;
import io.delayqueue.admin.DelayQueueInspector;
import io.delayqueue.store.DeadLetterCursor;
import io.delayqueue.web.http.ApiViews;
import io.delayqueue.web.http.ApiRequest;
import io.delayqueue.web.http.RouteTable;
import io.delayqueue.web.http.AuditPublisher;
import io.delayqueue.web.http.AuditedOperation;
import io.delayqueue.web.http.Authority;
import io.delayqueue.web.http.Json;
import io.delayqueue.web.http.JsonObjectReader;
import io.delayqueue.web.http.Problem;
import io.delayqueue.web.http.Problem.Kind;
import io.delayqueue.web.http.ProblemException;
import io.delayqueue.web.http.Responses;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

import org.springframework.http.HttpMethod;
import org.springframework.web.servlet.function.ServerResponse;

/**
 * Lists, counts, redrives and purges dead letters, one by its id or all that match a
 * filter, step by step. A count returns its start on the store's clock, or the bound of
 * its filter if that is earlier, as {@code deadLetteredBefore}: a change with that bound
 * affects only dead letters that were counted.
 */
public final class DeadLetterRoutes {

    /**
     * Maximum length of a cursor, which the audit repeats. One has the id of a dead
     * letter, and its time or queue.
     */
    static final int MAX_CURSOR = 512;

    private static final int MAX_ID = 256;

    private static final Set<String> FILTER = Set.of("idPrefix", "causeContains", "deadLetteredFrom",
            "deadLetteredBefore", "group", "causeGroup");

    private final DelayQueueOperations operations;

    private final @Nullable DelayQueueInspector inspector;

    private final AuditPublisher audit;

    private final @Nullable DeadLetterCauseCache causes;

    /**
     * Creates the routes.
     * @param inspector reads the store's time; without it counts have no bound of their
     * own, and unknown queues are not detected
     */
    public DeadLetterRoutes(DelayQueueOperations operations, @Nullable DelayQueueInspector inspector,
            AuditPublisher audit) {
        this.operations = operations;
        this.inspector = inspector;
        this.audit = audit;
        this.causes = (inspector != null)
                ? new DeadLetterCauseCache(inspector, System::nanoTime, DeadLetterCauseCache.MAX_WAIT) : null;
    }

    public void addTo(RouteTable routes) {
        String all = "/queues/{queue}/dead-letters";
        routes.add(HttpMethod.GET, all, Authority.VIEW, this::list);
        routes.add(HttpMethod.GET, all + "/causes", Authority.VIEW, this::causes);
        routes.add(HttpMethod.GET, all + "/by-id", Authority.VIEW, this::find);
        routes.add(HttpMethod.DELETE, all + "/by-id", Authority.OPERATE, this::purge);
        routes.add(HttpMethod.POST, all + "/by-id/redrive", Authority.OPERATE, this::redrive);
        routes.add(HttpMethod.POST, all + "/count", Authority.VIEW, this::count);
        routes.add(HttpMethod.POST, all + "/redrive", Authority.OPERATE,
                (request) -> change(request, "redrive", DeadLetterOperations::redrive));
        routes.add(HttpMethod.POST, all + "/purge", Authority.OPERATE,
                (request) -> change(request, "purge", DeadLetterOperations::purge));
    }

    private ServerResponse list(ApiRequest request) {
        request.onlyQuery("cursor", "limit");
        DeadLetterPage page = deadLetters(request).list(cursor(request.query("cursor")), request.limit());
        if (page.deadLetters().isEmpty() && this.inspector != null) {
            QueueExistenceCheck.overview(this.inspector, request.queue());
        }
        boolean unmasked = request.permits(Authority.PAYLOAD);
        ObjectNode json = ApiViews.object();
        ArrayNode array = json.putArray("deadLetters");
        page.deadLetters().forEach((one) -> array.add(ApiViews.deadLetter(one, unmasked)));
        return Responses.json(json.put("nextCursor", page.nextCursor()));
    }

    /** Compares only types for callers that may not read causes. */
    private ServerResponse causes(ApiRequest request) {
        request.onlyQuery();
        QueueName queue = request.queue();
        boolean open = request.permits(Authority.PAYLOAD);
        if (this.inspector == null || this.causes == null) {
            throw new ProblemException(new Problem(Kind.NOT_FOUND, "This store cannot group dead letters"));
        }
        DeadLetterCauses causes = this.causes.get(queue.value(), !open);
        if (causes.examined() == 0) {
            QueueExistenceCheck.overview(this.inspector, queue);
        }
        return Responses.json(ApiViews.causes(causes, open));
    }

    private void forgetCauses(ApiRequest request) {
        if (this.causes != null) {
            this.causes.forget(request.queue().value());
        }
    }

    private ServerResponse find(ApiRequest request) {
        String id = id(request);
        DeadLetter found = deadLetters(request).find(id).orElseThrow(() -> notFound(request));
        return Responses.json(ApiViews.deadLetter(found, request.permits(Authority.PAYLOAD)));
    }

    private ServerResponse redrive(ApiRequest request) {
        String id = id(request);
        RedriveResult result = this.audit.of(change(request, "redrive", id), () -> deadLetters(request).redrive(id),
                (answer) -> (answer == RedriveResult.REDRIVEN) ? 1 : 0);
        forgetCauses(request);
        return switch (result) {
            case REDRIVEN -> Responses.done();
            case ID_IN_USE -> throw new ProblemException(
                    new Problem(Kind.ID_IN_USE, "The dead letter stays; retry once that message is handled"));
            case EMPTY -> throw new ProblemException(
                    new Problem(Kind.EMPTY_DEAD_LETTER, "Its content is missing; it can only be purged"));
            case NOT_FOUND -> throw notFound(request);
        };
    }

    private ServerResponse purge(ApiRequest request) {
        String id = id(request);
        boolean purged = this.audit.of(change(request, "purge", id), () -> deadLetters(request).purge(id),
                (answer) -> answer ? 1 : 0);
        forgetCauses(request);
        if (!purged) {
            throw notFound(request);
        }
        return Responses.done();
    }

    /** Counts in one step. */
    private ServerResponse count(ApiRequest request) {
        request.onlyQuery();
        JsonObjectReader body = request.body("filter", "cursor");
        DeadLetterFilter filter = filter(request, body);
        String cursor = cursor(body.text("cursor"));
        if (cursor == null && this.inspector != null) {
            filter = until(QueueExistenceCheck.overview(this.inspector, request.queue()).now(), filter);
        }
        return step(filter, deadLetters(request).count(filter, cursor));
    }

    /** Returns the filter without what is dead-lettered later. */
    private static DeadLetterFilter until(Instant now, DeadLetterFilter filter) {
        Instant before = filter.deadLetteredBefore();
        return (before != null && before.isBefore(now)) ? filter
                : filter.withDeadLetteredBetween(filter.deadLetteredFrom(), now);
    }

    /** Changes in one step. */
    private ServerResponse change(ApiRequest request, String operation, Step step) {
        request.onlyQuery();
        JsonObjectReader body = request.body("filter", "cursor");
        DeadLetterFilter filter = filter(request, body);
        String cursor = cursor(body.text("cursor"));
        if (cursor == null && filter.deadLetteredBefore() == null) {
            throw ProblemException
                .invalid("Without a cursor, 'deadLetteredBefore' is needed to %s: use that of the count"
                    .formatted(operation));
        }
        DeadLetterBulkResult result = change(request.change(operation, text(filter, cursor)),
                () -> step.take(deadLetters(request), filter, cursor));
        forgetCauses(request);
        return step(filter, result);
    }

    /** Audits failures too, because part of the step may be done. */
    DeadLetterBulkResult change(AuditedOperation change, Supplier<DeadLetterBulkResult> step) {
        return this.audit.of(change, step, DeadLetterBulkResult::changed);
    }

    private static ServerResponse step(DeadLetterFilter filter, DeadLetterBulkResult result) {
        return Responses.json(ApiViews.object()
            .put("examined", result.examined())
            .put("matched", result.matched())
            .put("changed", result.changed())
            .put("deadLetteredBefore", ApiViews.time(filter.deadLetteredBefore()))
            .put("nextCursor", result.nextCursor()));
    }

    /**
     * Formats the filter for the audit, without absent fields. Its length is bounded
     * because all fields are.
     */
    static String text(DeadLetterFilter filter, @Nullable String cursor) {
        ObjectNode json = ApiViews.object()
            .put("idPrefix", filter.idPrefix())
            .put("causeContains", filter.causeContains())
            .put("deadLetteredFrom", ApiViews.time(filter.deadLetteredFrom()))
            .put("deadLetteredBefore", ApiViews.time(filter.deadLetteredBefore()))
            .put("group", filter.group())
            .put("causeGroup", filter.causeGroup())
            .put("cursor", cursor);
        return Json.ascii(json.removeNulls());
    }

    /** Validates a cursor from the caller. */
    public static @Nullable String cursor(@Nullable String given) {
        if (given != null) {
            ProblemException.valid(() -> DeadLetterCursor.parse(given));
            if (given.length() > MAX_CURSOR) {
                throw ProblemException.invalid("This cursor is not valid: use the nextCursor of a page, or null");
            }
        }
        return given;
    }

    /**
     * Returns the filter in a body. Only callers that may read causes can search by them.
     */
    public static DeadLetterFilter filter(ApiRequest request, JsonObjectReader body) {
        JsonNode given = body.value("filter");
        if (given == null) {
            throw ProblemException.invalid("Field 'filter' is needed; {} means all dead letters");
        }
        JsonObjectReader fields = new JsonObjectReader(given, "filter.", FILTER);
        if (fields.value("causeContains") != null && !request.permits(Authority.PAYLOAD)) {
            throw new ProblemException(new Problem(Kind.FORBIDDEN,
                    "A cause may quote the payload: to search by it needs " + Authority.PAYLOAD.text() + " too"));
        }
        String causeGroup = fields.text("causeGroup");
        if (causeGroup != null && !CauseGroup.isKey(causeGroup)) {
            throw ProblemException.invalid("Field 'filter.causeGroup' is not valid: use that of a group of causes, not "
                    + Json.quoted(causeGroup));
        }
        if (causeGroup != null && !CauseGroup.isOfType(causeGroup) && !request.permits(Authority.PAYLOAD)) {
            throw new ProblemException(new Problem(Kind.FORBIDDEN,
                    "A cause may quote the payload: this group needs " + Authority.PAYLOAD.text() + " too"));
        }
        return new DeadLetterFilter(bounded(fields, "idPrefix"), bounded(fields, "causeContains"),
                fields.instant("deadLetteredFrom"), fields.instant("deadLetteredBefore"), bounded(fields, "group"),
                causeGroup);
    }

    private static @Nullable String bounded(JsonObjectReader fields, String name) {
        return (fields.value(name) != null) ? fields.text(name, MAX_ID) : null;
    }

    /**
     * Returns the id in the query. It is not in the path because it contains a message
     * id, which may have slashes.
     */
    private static String id(ApiRequest request) {
        request.onlyQuery("deadLetterId");
        String id = request.required("deadLetterId");
        if (id.length() > MAX_ID) {
            throw notFound(request);
        }
        return id;
    }

    /** Cleans the id, which may hold any text. */
    private static AuditedOperation change(ApiRequest request, String operation, String id) {
        return request.change(operation, Json.line(id, MAX_ID));
    }

    private DeadLetterOperations deadLetters(ApiRequest request) {
        return this.operations.deadLetters(request.queue().value());
    }

    private static ProblemException notFound(ApiRequest request) {
        return new ProblemException(
                new Problem(Kind.NOT_FOUND, "Queue '%s' has no dead letter of that id".formatted(request.queue())));
    }

    /** Redrives or purges in one step. */
    @FunctionalInterface
    private interface Step {

        DeadLetterBulkResult take(DeadLetterOperations deadLetters, DeadLetterFilter filter, @Nullable String cursor);

    }

}

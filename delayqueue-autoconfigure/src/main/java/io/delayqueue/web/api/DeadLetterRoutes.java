package io.delayqueue.web.api;

import java.util.Set;

import io.delayqueue.DeadLetter;
import io.delayqueue.DeadLetterFilter;
import io.delayqueue.DeadLetterOperations;
import io.delayqueue.DeadLetterPage;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.QueueName;
import io.delayqueue.RedriveResult;
import io.delayqueue.store.DeadLetterCursor;
import io.delayqueue.web.http.ApiRequest;
import io.delayqueue.web.http.ApiRoutes;
import io.delayqueue.web.http.AuditPublisher;
import io.delayqueue.web.http.AuditedOperation;
import io.delayqueue.web.http.Authority;
import io.delayqueue.web.http.Json;
import io.delayqueue.web.http.JsonFields;
import io.delayqueue.web.http.JsonViews;
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

/** Lists, redrives and purges dead letters. */
public final class DeadLetterRoutes {

    private static final int MAX_LETTER_ID = 256;

    private static final Set<String> FILTER = Set.of("idPrefix", "causeContains", "diedFrom", "diedBefore", "group");

    private final DelayQueueOperations operations;

    private final AuditPublisher audit;

    private final DeadLetterBulkOperations sweeps;

    public DeadLetterRoutes(DelayQueueOperations operations, AuditPublisher audit, DeadLetterBulkOperations sweeps) {
        this.operations = operations;
        this.audit = audit;
        this.sweeps = sweeps;
    }

    public void addTo(ApiRoutes routes) {
        routes.add(HttpMethod.GET, "/queues/{queue}/dead-letters", Authority.VIEW, this::list);
        routes.add(HttpMethod.GET, "/queues/{queue}/dead-letter", Authority.VIEW, this::find);
        routes.add(HttpMethod.POST, "/queues/{queue}/dead-letters/redrive", Authority.OPERATE, this::redrive);
        routes.add(HttpMethod.POST, "/queues/{queue}/dead-letters/purge", Authority.OPERATE, this::purge);
        routes.add(HttpMethod.POST, "/queues/{queue}/dead-letters/redrive-matching", Authority.OPERATE,
                (request) -> sweep(request, this.sweeps::redrive));
        routes.add(HttpMethod.POST, "/queues/{queue}/dead-letters/purge-matching", Authority.OPERATE,
                (request) -> sweep(request, this.sweeps::purge));
    }

    private ServerResponse list(ApiRequest request) {
        request.onlyQuery("cursor", "limit");
        DeadLetterPage page = letters(request).list(cursor(request.query("cursor")), request.limit());
        boolean open = request.permits(Authority.PAYLOAD);
        ObjectNode json = JsonViews.object();
        ArrayNode array = json.putArray("letters");
        page.letters().forEach((letter) -> array.add(JsonViews.letter(letter, open)));
        return Responses.json(json.put("nextCursor", page.nextCursor()));
    }

    /**
     * Takes the id from the query, because it contains a message id, which may have
     * slashes.
     */
    private ServerResponse find(ApiRequest request) {
        request.onlyQuery("letterId");
        String letterId = request.required("letterId");
        if (letterId.length() > MAX_LETTER_ID) {
            throw notFound(request.queue());
        }
        DeadLetter letter = letters(request).find(letterId).orElseThrow(() -> notFound(request.queue()));
        return Responses.json(JsonViews.letter(letter, request.permits(Authority.PAYLOAD)));
    }

    private ServerResponse redrive(ApiRequest request) {
        request.onlyQuery();
        QueueName queue = request.queue();
        String letterId = request.body("letterId").text("letterId", MAX_LETTER_ID);
        RedriveResult result = this.audit.of(change(request, "redrive", letterId),
                () -> letters(request).redrive(letterId), (answer) -> (answer == RedriveResult.REDRIVEN) ? 1 : 0);
        return switch (result) {
            case REDRIVEN -> Responses.json(JsonViews.object().put("count", 1));
            case ID_IN_USE -> throw new ProblemException(
                    new Problem(Kind.ID_IN_USE, "The dead letter stays; try again once that message is done"));
            case EMPTY -> throw new ProblemException(
                    new Problem(Kind.EMPTY_LETTER, "Its content was missing; it can only be purged"));
            case NOT_FOUND -> throw notFound(queue);
        };
    }

    private ServerResponse purge(ApiRequest request) {
        request.onlyQuery();
        QueueName queue = request.queue();
        String letterId = request.body("letterId").text("letterId", MAX_LETTER_ID);
        boolean purged = this.audit.of(change(request, "purge", letterId), () -> letters(request).purge(letterId),
                (answer) -> answer ? 1 : 0);
        if (!purged) {
            throw notFound(queue);
        }
        return Responses.json(JsonViews.object().put("count", 1));
    }

    /**
     * Runs one step over the dead letters that match a filter. Only counts by default: a
     * change needs {@code dryRun} to be false.
     */
    private ServerResponse sweep(ApiRequest request, Step step) {
        request.onlyQuery();
        QueueName queue = request.queue();
        JsonFields body = request.body("dryRun", "filter", "cursor");
        DeadLetterFilter filter = filter(request, body);
        boolean dryRun = body.value("dryRun") == null || body.flag("dryRun");
        String cursor = cursor(body.text("cursor"));
        ObjectNode json = dryRun ? this.sweeps.count(queue, filter, cursor) : step.take(request, filter, cursor);
        return Responses.json(json.put("dryRun", dryRun));
    }

    /** Validates a cursor from the caller. */
    public static @Nullable String cursor(@Nullable String given) {
        if (given != null) {
            ProblemException.valid(() -> DeadLetterCursor.parse(given));
        }
        return given;
    }

    /**
     * Returns the filter in a body. Only callers that may read causes can search by them.
     */
    public static DeadLetterFilter filter(ApiRequest request, JsonFields body) {
        JsonNode given = body.value("filter");
        if (given == null) {
            throw ProblemException.invalid("Field 'filter' is needed; {} means all dead letters");
        }
        JsonFields fields = new JsonFields(given, "filter.", FILTER);
        if (fields.value("causeContains") != null && !request.permits(Authority.PAYLOAD)) {
            throw new ProblemException(new Problem(Kind.FORBIDDEN,
                    "A cause may quote the payload: to search by it needs " + Authority.PAYLOAD.text() + " too"));
        }
        return new DeadLetterFilter(bounded(fields, "idPrefix"), bounded(fields, "causeContains"),
                fields.instant("diedFrom"), fields.instant("diedBefore"), bounded(fields, "group"));
    }

    private static @Nullable String bounded(JsonFields fields, String name) {
        return (fields.value(name) != null) ? fields.text(name, MAX_LETTER_ID) : null;
    }

    /** Cleans the id, which may hold any text. */
    private static AuditedOperation change(ApiRequest request, String operation, String letterId) {
        return request.change(operation, Json.line(letterId, MAX_LETTER_ID));
    }

    private DeadLetterOperations letters(ApiRequest request) {
        return this.operations.deadLetters(request.queue().value());
    }

    private static ProblemException notFound(QueueName queue) {
        return new ProblemException(
                new Problem(Kind.NOT_FOUND, "Queue '%s' has no dead letter of that name".formatted(queue)));
    }

    /** Redrives or purges in one step. */
    @FunctionalInterface
    private interface Step {

        ObjectNode take(ApiRequest request, DeadLetterFilter filter, @Nullable String cursor);

    }

}

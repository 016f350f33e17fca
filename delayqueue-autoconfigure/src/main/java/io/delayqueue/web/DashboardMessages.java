package io.delayqueue.web;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

import io.delayqueue.DeadLetter;
import io.delayqueue.DeadLetterFilter;
import io.delayqueue.DeadLetterPage;
import io.delayqueue.CancelResult;
import io.delayqueue.DelayQueueInspector;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.MessageLimits;
import io.delayqueue.MessageListing;
import io.delayqueue.MessagePage;
import io.delayqueue.MessageSummary;
import io.delayqueue.QueueName;
import io.delayqueue.RescheduleResult;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

import org.springframework.http.HttpMethod;
import org.springframework.web.servlet.function.ServerResponse;

/**
 * Lists of messages and of dead letters, and what is done to many of them. A call looks
 * at few enough that it ends soon; the page goes on with the cursor.
 */
final class DashboardMessages {

    private static final int MAX_FILTER = 200;

    private final DelayQueueOperations operations;

    private final DelayQueueInspector inspector;

    private final Audit audit;

    private final Sweeps sweeps;

    DashboardMessages(DashboardSources sources, Audit audit, Sweeps sweeps) {
        this.sweeps = sweeps;
        this.operations = sources.operations();
        this.inspector = sources.inspector();
        this.audit = audit;
    }

    void addTo(ApiRoutes routes) {
        routes.add(HttpMethod.GET, "/queues/{queue}/messages", Authority.VIEW, this::messages);
        routes.add(HttpMethod.POST, "/queues/{queue}/messages/cancel", Authority.OPERATE, this::cancel);
        routes.add(HttpMethod.POST, "/queues/{queue}/messages/reschedule", Authority.OPERATE, this::reschedule);
        routes.add(HttpMethod.POST, "/queues/{queue}/dead-letters/matching", Authority.VIEW, this::letters);
        routes.add(HttpMethod.POST, "/queues/{queue}/dead-letters/sweeps/count", Authority.VIEW,
                (request) -> sweep(request, "count"));
        routes.add(HttpMethod.POST, "/queues/{queue}/dead-letters/sweeps/redrive", Authority.OPERATE,
                (request) -> sweep(request, "redrive"));
        routes.add(HttpMethod.POST, "/queues/{queue}/dead-letters/sweeps/purge", Authority.OPERATE,
                (request) -> sweep(request, "purge"));
    }

    private ServerResponse messages(ApiRequest request) {
        request.onlyQuery("state", "cursor", "limit");
        String state = request.required("state");
        MessageListing listing = List.of(MessageListing.values())
            .stream()
            .filter((one) -> one.name().equals(state.toUpperCase(Locale.ROOT)))
            .findFirst()
            .orElseThrow(() -> ProblemException.invalid("Query parameter 'state' is not valid: use one of %s, not %s"
                .formatted(List.of(MessageListing.values()), Json.quoted(state))));
        MessagePage page = this.inspector.messages(request.queue().value(), listing, request.query("cursor"),
                request.limit());
        ObjectNode json = Views.object();
        ArrayNode array = json.putArray("messages");
        page.messages().forEach((message) -> array.add(summary(message)));
        return Answer.json(json.put("nextCursor", page.nextCursor()));
    }

    private static ObjectNode summary(MessageSummary message) {
        return Views.object()
            .put("id", message.id())
            .put("state", message.state().name())
            .put("dueAt", Views.time(message.dueAt()))
            .put("leasedUntil", Views.time(message.leasedUntil()))
            .put("expiresAt", Views.time(message.expiresAt()))
            .put("priority", message.priority())
            .put("group", message.group())
            .put("failures", message.failures())
            .put("lapses", message.lapses());
    }

    private ServerResponse cancel(ApiRequest request) {
        request.onlyQuery();
        String queue = request.queue().value();
        return each(request, "cancel", request.body("ids"), (id) -> {
            CancelResult result = this.operations.cancel(queue, id);
            return result.name();
        });
    }

    private ServerResponse reschedule(ApiRequest request) {
        request.onlyQuery();
        String queue = request.queue().value();
        Fields body = request.body("ids", "delayMillis");
        Duration delay = body.millis("delayMillis", Duration.ZERO, Duration.ZERO, MessageLimits.MAX_DURATION);
        return each(request, "reschedule", body, (id) -> {
            RescheduleResult result = this.operations.reschedule(queue, id, delay);
            return result.name();
        });
    }

    /** One audit event for all of them, also if it ends with a failure. */
    private ServerResponse each(ApiRequest request, String operation, Fields body, Function<String, String> what) {
        List<String> ids = ids(request, body);
        Map<String, Integer> results = new TreeMap<>();
        try {
            ids.forEach((id) -> results.merge(what.apply(id), 1, Integer::sum));
        }
        finally {
            int changed = results.getOrDefault(CancelResult.CANCELLED.name(), 0)
                    + results.getOrDefault(RescheduleResult.RESCHEDULED.name(), 0);
            this.audit.tell(request.who(), operation, request.queue(), String.join(" ", ids), changed);
        }
        ObjectNode json = Views.object();
        ObjectNode counts = json.putObject("results");
        results.forEach(counts::put);
        return Answer.json(json);
    }

    private static List<String> ids(ApiRequest request, Fields body) {
        JsonNode array = body.value("ids");
        int most = request.settings().maxBatch();
        if (array == null || !array.isArray() || array.isEmpty() || array.size() > most) {
            throw ProblemException.invalid("Field 'ids' is not valid: use an array of 1 to %d ids".formatted(most));
        }
        List<String> ids = new ArrayList<>();
        for (JsonNode id : array) {
            if (!id.isString()) {
                throw ProblemException.invalid("Field 'ids' is not valid: use strings, not " + Json.kind(id));
            }
            ids.add(MessageLimits.requireId(id.asString()));
        }
        return ids;
    }

    /**
     * With a filter one page may have few letters, or none, and still not be the last.
     */
    private ServerResponse letters(ApiRequest request) {
        request.onlyQuery("limit");
        Fields body = request.body("idPrefix", "causeContains", "group", "diedFrom", "diedBefore", "cursor");
        DeadLetterFilter filter = filter(body);
        DeadLetterPage page = this.operations.deadLetters(request.queue().value())
            .list(body.text("cursor"), request.limit());
        boolean open = request.permits(Authority.PAYLOAD);
        ObjectNode json = Views.object();
        ArrayNode array = json.putArray("letters");
        for (DeadLetter letter : page.letters()) {
            if (filter.matches(letter)) {
                array.add(Views.letter(letter, open));
            }
        }
        return Answer.json(json.put("nextCursor", page.nextCursor()));
    }

    private ServerResponse sweep(ApiRequest request, String operation) {
        request.onlyQuery();
        QueueName queue = request.queue();
        Fields body = request.body("idPrefix", "causeContains", "group", "diedFrom", "diedBefore", "cursor");
        DeadLetterFilter filter = filter(body);
        String cursor = body.text("cursor");
        return Answer.json(switch (operation) {
            case "redrive" -> this.sweeps.redrive(request, filter, cursor);
            case "purge" -> this.sweeps.purge(request, filter, cursor);
            default -> this.sweeps.count(queue, filter, cursor);
        });
    }

    private static DeadLetterFilter filter(Fields body) {
        return new DeadLetterFilter(shortText(body, "idPrefix"), shortText(body, "causeContains"),
                body.instant("diedFrom"), body.instant("diedBefore"), shortText(body, "group"));
    }

    private static @Nullable String shortText(Fields body, String name) {
        return (body.value(name) != null) ? body.text(name, MAX_FILTER) : null;
    }

}

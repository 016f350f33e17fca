package io.delayqueue.web.api;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.TreeSet;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.MessageLimits;
import io.delayqueue.PauseResult;
import io.delayqueue.QueueName;
import io.delayqueue.SchedulePage;
import io.delayqueue.ResumeResult;
import io.delayqueue.admin.DelayQueueInspector;
import io.delayqueue.admin.MessagePage;
import io.delayqueue.admin.MessageSelection;
import io.delayqueue.admin.QueueOverviews;
import io.delayqueue.admin.QueuePage;
import io.delayqueue.store.MessageCursor;
import io.delayqueue.web.http.ApiViews;
import io.delayqueue.web.http.ApiRequest;
import io.delayqueue.web.http.RouteTable;
import io.delayqueue.web.http.AuditPublisher;
import io.delayqueue.web.http.Authority;
import io.delayqueue.web.http.Json;
import io.delayqueue.web.http.JsonObjectReader;
import io.delayqueue.web.http.Problem;
import io.delayqueue.web.http.Problem.Kind;
import io.delayqueue.web.http.ProblemException;
import io.delayqueue.web.http.Responses;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

import org.springframework.http.HttpMethod;
import org.springframework.web.servlet.function.ServerResponse;

/**
 * Adds the routes of queues: list, count, pause, resume, forget; and the messages of a
 * queue by state.
 */
public final class QueueRoutes {

    /** The selections by their names in requests. */
    private static final Map<String, MessageSelection> LISTINGS = Map.of("SCHEDULED", MessageSelection.SCHEDULED, "DUE",
            MessageSelection.DUE, "LEASED", MessageSelection.LEASED, "WAITING_IN_GROUP",
            MessageSelection.WAITING_IN_GROUP);

    private final DelayQueueOperations operations;

    private final DelayQueueInspector inspector;

    private final AuditPublisher audit;

    public QueueRoutes(DelayQueueOperations operations, DelayQueueInspector inspector, AuditPublisher audit) {
        this.operations = operations;
        this.inspector = inspector;
        this.audit = audit;
    }

    public void addTo(RouteTable routes) {
        routes.add(HttpMethod.GET, "/queues", Authority.VIEW, this::list);
        routes.add(HttpMethod.GET, "/queues/{queue}", Authority.VIEW, this::overview);
        routes.add(HttpMethod.DELETE, "/queues/{queue}", Authority.OPERATE, this::forget);
        routes.add(HttpMethod.GET, "/queues/{queue}/due-counts", Authority.VIEW, this::dueCounts);
        routes.add(HttpMethod.GET, "/queues/{queue}/due-histogram", Authority.VIEW, this::dueHistogram);
        routes.add(HttpMethod.GET, "/queues/{queue}/messages", Authority.VIEW, this::messages);
        routes.add(HttpMethod.PUT, "/queues/{queue}/pause", Authority.OPERATE, this::pause);
        routes.add(HttpMethod.DELETE, "/queues/{queue}/pause", Authority.OPERATE, this::resume);
    }

    private ServerResponse list(ApiRequest request) {
        request.onlyQuery("cursor", "limit");
        String cursor = request.query("cursor");
        if (cursor != null) {
            ProblemException.valid(() -> new QueueName(cursor));
        }
        QueuePage page = this.inspector.queues(cursor, request.limit());
        ObjectNode json = ApiViews.object();
        ArrayNode array = json.putArray("queues");
        QueueOverviews read = this.inspector.overviews(page.queues());
        read.overviews().forEach((overview) -> array.add(ApiViews.overview(overview)));
        json.set("failures", ApiViews.failures(read));
        return Responses.json(json.put("nextCursor", page.nextCursor()));
    }

    private ServerResponse overview(ApiRequest request) {
        request.onlyQuery();
        return Responses.json(ApiViews.overview(QueueExistenceCheck.overview(this.inspector, request.queue())));
    }

    private ServerResponse dueCounts(ApiRequest request) {
        request.onlyQuery();
        QueueName queue = request.queue();
        QueueExistenceCheck.overview(this.inspector, queue);
        return Responses.json(ApiViews.dueCounts(this.inspector.dueForecast(queue.value())));
    }

    private ServerResponse dueHistogram(ApiRequest request) {
        request.onlyQuery();
        QueueName queue = request.queue();
        QueueExistenceCheck.overview(this.inspector, queue);
        return Responses.json(ApiViews.dueHistogram(this.inspector.dueHistogram(queue.value())));
    }

    private ServerResponse forget(ApiRequest request) {
        request.onlyQuery();
        QueueName queue = request.queue();
        boolean forgotten = this.audit.of(request.change("forget", null), () -> this.inspector.forget(queue.value()),
                (answer) -> answer ? 1 : 0);
        if (!forgotten) {
            QueueExistenceCheck.overview(this.inspector, queue);
            throw new ProblemException(new Problem(Kind.QUEUE_IN_USE,
                    "Queue '%s' holds messages or dead letters, is paused, or has schedules or a listener"
                        .formatted(queue)));
        }
        return Responses.done();
    }

    /** Returns whether a queue has schedules, which send to it again. */
    public static boolean hasSchedules(DelayQueueOperations operations, String queue) {
        SchedulePage page = operations.schedules(queue).list(null, 1);
        return !page.schedules().isEmpty() || !page.unreadable().isEmpty();
    }

    private ServerResponse messages(ApiRequest request) {
        request.onlyQuery("listing", "cursor", "limit");
        MessageSelection listing = listing(request);
        String cursor = request.query("cursor");
        if (cursor != null) {
            ProblemException.valid(() -> MessageCursor.parse(cursor, listing));
        }
        QueueName queue = request.queue();
        MessagePage page = this.inspector.messages(queue.value(), listing, cursor, request.limit());
        if (page.messages().isEmpty()) {
            QueueExistenceCheck.overview(this.inspector, queue);
        }
        ObjectNode json = ApiViews.object();
        ArrayNode array = json.putArray("messages");
        boolean open = request.permits(Authority.PAYLOAD);
        page.messages().forEach((message) -> array.add(ApiViews.summary(message, open)));
        return Responses.json(json.put("nextCursor", page.nextCursor()));
    }

    private static MessageSelection listing(ApiRequest request) {
        String text = request.query("listing");
        if (text == null) {
            return MessageSelection.SCHEDULED;
        }
        MessageSelection listing = LISTINGS.get(text);
        if (listing == null) {
            throw ProblemException.invalid("Query parameter 'listing' is not valid: use one of %s, not %s"
                .formatted(new TreeSet<>(LISTINGS.keySet()), Json.quoted(text)));
        }
        return listing;
    }

    private ServerResponse pause(ApiRequest request) {
        request.onlyQuery();
        QueueName queue = request.queue();
        JsonObjectReader body = request.body("forMillis", "until");
        Instant until = body.instant("until");
        if (until != null && body.value("forMillis") != null) {
            throw ProblemException.invalid("Fields 'forMillis' and 'until' are both there; use one or none");
        }
        if (until != null) {
            ProblemException.valid(() -> MessageLimits.requireDueAt(until));
        }
        Duration time = body.millis("forMillis", Duration.ZERO, Duration.ofMillis(1), MessageLimits.MAX_DURATION);
        PauseResult result = this.audit.of(request.change("pause", null), () -> {
            Instant now = QueueExistenceCheck.overview(this.inspector, queue).now();
            if (until != null && !until.isAfter(now)) {
                throw ProblemException.invalid("Field 'until' is not valid: %s has passed".formatted(until));
            }
            if (until != null) {
                return this.operations.pause(queue.value(), until);
            }
            return time.isZero() ? this.operations.pause(queue.value()) : this.operations.pause(queue.value(), time);
        }, (answer) -> 1);
        return Responses.json(ApiViews.object()
            .put("queue", result.queue())
            .put("alreadyPaused", result.alreadyPaused())
            .put("until", ApiViews.time(result.until())));
    }

    private ServerResponse resume(ApiRequest request) {
        request.onlyQuery();
        QueueName queue = request.queue();
        ResumeResult result = this.audit.of(request.change("resume", null), () -> this.operations.resume(queue.value()),
                (answer) -> (answer == ResumeResult.RESUMED) ? 1 : 0);
        return Responses.json(ApiViews.object().put("result", result.name()));
    }

}

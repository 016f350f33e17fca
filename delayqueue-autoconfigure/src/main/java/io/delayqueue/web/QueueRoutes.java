package io.delayqueue.web;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

import io.delayqueue.DelayQueueInspector;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.MessageLimits;
import io.delayqueue.MessageListing;
import io.delayqueue.MessagePage;
import io.delayqueue.PauseResult;
import io.delayqueue.QueueName;
import io.delayqueue.QueueOverviews;
import io.delayqueue.QueuePage;
import io.delayqueue.ResumeResult;
import io.delayqueue.engine.MessagePosition;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

import org.springframework.http.HttpMethod;
import org.springframework.web.servlet.function.ServerResponse;

/** Lists, counts, pauses, resumes and forgets queues, and tells who listens to them. */
final class QueueRoutes {

    private final DelayQueueOperations operations;

    private final DelayQueueInspector inspector;

    private final Audit audit;

    QueueRoutes(DelayQueueOperations operations, DelayQueueInspector inspector, Audit audit) {
        this.operations = operations;
        this.inspector = inspector;
        this.audit = audit;
    }

    void addTo(ApiRoutes routes) {
        routes.add(HttpMethod.GET, "/queues", Authority.VIEW, this::list);
        routes.add(HttpMethod.GET, "/queues/{queue}", Authority.VIEW, this::overview);
        routes.add(HttpMethod.GET, "/queues/{queue}/horizon", Authority.VIEW, this::horizon);
        routes.add(HttpMethod.GET, "/queues/{queue}/messages", Authority.VIEW, this::messages);
        routes.add(HttpMethod.GET, "/nodes", Authority.VIEW, this::nodes);
        routes.add(HttpMethod.POST, "/queues/{queue}/forget", Authority.OPERATE, this::forget);
        routes.add(HttpMethod.POST, "/queues/{queue}/pause", Authority.OPERATE, this::pause);
        routes.add(HttpMethod.POST, "/queues/{queue}/resume", Authority.OPERATE, this::resume);
    }

    private ServerResponse list(ApiRequest request) {
        request.onlyQuery("cursor", "limit");
        String cursor = request.query("cursor");
        if (cursor != null) {
            ProblemException.valid(() -> new QueueName(cursor));
        }
        QueuePage page = this.inspector.queues(cursor, request.limit());
        ObjectNode json = Views.object();
        ArrayNode array = json.putArray("queues");
        QueueOverviews read = this.inspector.overviews(page.queues());
        read.overviews().forEach((overview) -> array.add(Views.overview(overview)));
        json.set("failures", Views.failures(read));
        return Answer.json(json.put("nextCursor", page.nextCursor()));
    }

    private ServerResponse overview(ApiRequest request) {
        request.onlyQuery();
        return Answer.json(Views.overview(this.inspector.overview(request.queue().value())));
    }

    private ServerResponse horizon(ApiRequest request) {
        request.onlyQuery();
        return Answer.json(Views.horizon(this.inspector.horizon(request.queue().value())));
    }

    private ServerResponse nodes(ApiRequest request) {
        request.onlyQuery();
        ObjectNode json = Views.object();
        ArrayNode array = json.putArray("nodes");
        this.inspector.nodes().forEach((node) -> array.add(Views.node(node)));
        return Answer.json(json);
    }

    private ServerResponse forget(ApiRequest request) {
        request.onlyQuery();
        QueueName queue = request.queue();
        request.body();
        boolean forgotten = this.audit.of(request.change("forget", null), () -> this.inspector.forget(queue.value()),
                (answer) -> answer ? 1 : 0);
        return Answer.json(Views.object().put("forgotten", forgotten));
    }

    private ServerResponse messages(ApiRequest request) {
        request.onlyQuery("listing", "cursor", "limit");
        MessageListing listing = listing(request);
        String cursor = request.query("cursor");
        if (cursor != null) {
            ProblemException.valid(() -> MessagePosition.parse(cursor, listing));
        }
        MessagePage page = this.inspector.messages(request.queue().value(), listing, cursor, request.limit());
        ObjectNode json = Views.object();
        ArrayNode array = json.putArray("messages");
        page.messages().forEach((message) -> array.add(Views.summary(message)));
        return Answer.json(json.put("nextCursor", page.nextCursor()));
    }

    private static MessageListing listing(ApiRequest request) {
        String text = request.query("listing");
        if (text == null) {
            return MessageListing.SCHEDULED;
        }
        List<MessageListing> all = List.of(MessageListing.values());
        return all.stream()
            .filter((listing) -> listing.name().equals(text))
            .findFirst()
            .orElseThrow(() -> ProblemException.invalid(
                    "Query parameter 'listing' is not valid: use one of %s, not %s".formatted(all, Json.quoted(text))));
    }

    private ServerResponse pause(ApiRequest request) {
        request.onlyQuery();
        QueueName queue = request.queue();
        Fields body = request.body("forMillis", "until");
        Instant until = body.instant("until");
        if (until != null && body.value("forMillis") != null) {
            throw ProblemException.invalid("Fields 'forMillis' and 'until' are both there; use one or none");
        }
        if (until != null) {
            ProblemException.valid(() -> MessageLimits.requireDueAt(until));
        }
        if (until != null && !until.isAfter(this.inspector.overview(queue.value()).now())) {
            throw ProblemException.invalid("Field 'until' is not valid: %s has passed".formatted(until));
        }
        Duration time = body.millis("forMillis", Duration.ZERO, Duration.ofMillis(1), MessageLimits.MAX_DURATION);
        PauseResult result = this.audit.of(request.change("pause", null), () -> {
            if (until != null) {
                return this.operations.pause(queue.value(), until);
            }
            return time.isZero() ? this.operations.pause(queue.value()) : this.operations.pause(queue.value(), time);
        }, (answer) -> 1);
        return Answer.json(Views.object()
            .put("queue", result.queue())
            .put("wasPaused", result.wasPaused())
            .put("until", Views.time(result.until())));
    }

    private ServerResponse resume(ApiRequest request) {
        request.onlyQuery();
        QueueName queue = request.queue();
        request.body();
        ResumeResult result = this.audit.of(request.change("resume", null), () -> this.operations.resume(queue.value()),
                (answer) -> (answer == ResumeResult.RESUMED) ? 1 : 0);
        return Answer.json(Views.object().put("result", result.name()));
    }

}

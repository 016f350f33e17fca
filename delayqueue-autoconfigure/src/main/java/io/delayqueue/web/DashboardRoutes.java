package io.delayqueue.web;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;

import io.delayqueue.DelayQueueInspector;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.MessageLimits;
import io.delayqueue.PauseResult;
import io.delayqueue.QueueHorizon;
import io.delayqueue.QueueName;
import io.delayqueue.QueueOverview;
import io.delayqueue.ResumeResult;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

import org.springframework.http.HttpMethod;
import org.springframework.web.servlet.function.ServerResponse;

/** Queues as the dashboard shows them, and their pause. */
final class DashboardQueues {

    private final DelayQueueOperations operations;

    private final DelayQueueInspector inspector;

    private final Glance glance;

    private final Audit audit;

    DashboardQueues(DashboardSources sources, Audit audit) {
        this.operations = sources.operations();
        this.inspector = sources.inspector();
        this.glance = new Glance(sources.inspector(), System::nanoTime);
        this.audit = audit;
    }

    void addTo(ApiRoutes routes) {
        routes.add(HttpMethod.GET, "/overview", Authority.VIEW, this::overview);
        routes.add(HttpMethod.GET, "/queues/{queue}/details", Authority.VIEW, this::details);
        routes.add(HttpMethod.POST, "/queues/{queue}/pause", Authority.OPERATE, this::pause);
        routes.add(HttpMethod.POST, "/queues/{queue}/resume", Authority.OPERATE, this::resume);
    }

    private ServerResponse overview(ApiRequest request) {
        request.onlyQuery();
        Glance.Sight sight = this.glance.look();
        ObjectNode json = Views.object().put("now", Views.time(sight.now())).put("who", request.who());
        ArrayNode authorities = json.putArray("authorities");
        Stream.of(Authority.values()).filter(request::permits).forEach((one) -> authorities.add(one.name()));
        ArrayNode queues = json.putArray("queues");
        sight.queues().forEach((queue) -> queues.add(queue(queue)));
        ArrayNode problems = json.putArray("problems");
        sight.troubles().forEach((trouble) -> problems.add(trouble.toJson()));
        return Answer.json(json.put("more", sight.more()));
    }

    private ServerResponse details(ApiRequest request) {
        request.onlyQuery();
        String queue = request.queue().value();
        ObjectNode json = queue(this.inspector.overview(queue));
        json.set("horizon", horizon(this.inspector.horizon(queue)));
        return Answer.json(json);
    }

    private ServerResponse pause(ApiRequest request) {
        request.onlyQuery();
        QueueName queue = request.queue();
        Fields body = request.body("millis", "until");
        Instant until = body.instant("until");
        boolean timed = body.value("millis") != null;
        if (until != null && timed) {
            throw ProblemException.invalid("Field 'millis' or 'until' may be there, and only one of them");
        }
        PauseResult result = (until != null) ? this.operations.pause(queue.value(), until)
                : timed ? this.operations.pause(queue.value(),
                        body.millis("millis", Duration.ZERO, Duration.ZERO, MessageLimits.MAX_DURATION))
                        : this.operations.pause(queue.value());
        this.audit.tell(request.who(), "pause", queue, Views.time(result.until()), 1);
        return Answer
            .json(Views.object().put("wasPaused", result.wasPaused()).put("until", Views.time(result.until())));
    }

    private ServerResponse resume(ApiRequest request) {
        request.onlyQuery();
        request.body();
        QueueName queue = request.queue();
        ResumeResult result = this.operations.resume(queue.value());
        this.audit.tell(request.who(), "resume", queue, null, (result == ResumeResult.RESUMED) ? 1 : 0);
        return Answer.json(Views.object().put("result", result.name()));
    }

    static ObjectNode queue(QueueOverview queue) {
        Duration oldest = queue.oldestDue();
        return Views.object()
            .put("queue", queue.queue())
            .put("partitions", queue.partitions())
            .put("scheduled", queue.scheduled())
            .put("due", queue.due())
            .put("followers", queue.followers())
            .put("leased", queue.leased())
            .put("lapsed", queue.lapsed())
            .put("dead", queue.dead())
            .put("nextDueAt", Views.time(queue.nextDueAt()))
            .put("oldestDueMillis", (oldest != null) ? oldest.toMillis() : null)
            .put("paused", queue.paused())
            .put("pausedUntil", Views.time(queue.pausedUntil()));
    }

    private static ObjectNode horizon(QueueHorizon horizon) {
        ObjectNode json = Views.object();
        List<String> names = List.of("overdue", "minute", "hour", "day", "week", "later", "followers");
        List<Long> counts = List.of(horizon.overdue(), horizon.minute(), horizon.hour(), horizon.day(), horizon.week(),
                horizon.later(), horizon.followers());
        for (int i = 0; i < names.size(); i++) {
            json.put(names.get(i), counts.get(i));
        }
        return json;
    }

}

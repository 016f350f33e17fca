package io.delayqueue.web.api;

import io.delayqueue.QueueName;
import io.delayqueue.admin.DelayQueueInspector;
import io.delayqueue.admin.QueueActivity;
import io.delayqueue.admin.QueueActivity.Backlog;
import io.delayqueue.admin.QueueActivity.Lateness;
import io.delayqueue.admin.QueueActivity.Minute;
import io.delayqueue.web.http.ApiRequest;
import io.delayqueue.web.http.ApiViews;
import io.delayqueue.web.http.Authority;
import io.delayqueue.web.http.Responses;
import io.delayqueue.web.http.RouteTable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

import org.springframework.http.HttpMethod;
import org.springframework.web.servlet.function.ServerResponse;

/** Returns the counts of all nodes for the last three hours, by minute. */
public final class ActivityRoutes {

    private final DelayQueueInspector inspector;

    public ActivityRoutes(DelayQueueInspector inspector) {
        this.inspector = inspector;
    }

    public void addTo(RouteTable routes) {
        routes.add(HttpMethod.GET, "/activity", Authority.VIEW, this::ofAll);
        routes.add(HttpMethod.GET, "/queues/{queue}/activity", Authority.VIEW, this::ofQueue);
    }

    private ServerResponse ofAll(ApiRequest request) {
        request.onlyQuery();
        return Responses.large(json(this.inspector.activity()));
    }

    private ServerResponse ofQueue(ApiRequest request) {
        request.onlyQuery();
        QueueName queue = request.queue();
        QueueActivity activity = this.inspector.activity(queue.value());
        if (!activity.recorded()) {
            QueueExistenceCheck.overview(this.inspector, queue);
        }
        return Responses.large(json(activity));
    }

    private static ObjectNode json(QueueActivity activity) {
        ObjectNode json = ApiViews.object()
            .put("queue", activity.queue())
            .put("now", ApiViews.time(activity.now()))
            .put("recorded", activity.recorded())
            .put("maxQueues", QueueActivity.MAX_QUEUES);
        ArrayNode queues = json.putArray("queues");
        activity.queues().forEach(queues::add);
        ArrayNode minutes = json.putArray("minutes");
        activity.minutes().forEach((minute) -> minutes.add(json(minute)));
        return json;
    }

    private static ObjectNode json(Minute minute) {
        Lateness lateness = minute.lateness();
        Backlog backlog = minute.backlog();
        return ApiViews.object()
            .put("from", ApiViews.time(minute.from()))
            .put("reported", minute.reported())
            .put("unanswered", minute.unanswered())
            .put("started", minute.started())
            .put("failed", minute.failed())
            .put("p50Millis", (lateness != null) ? lateness.p50().toMillis() : null)
            .put("p95Millis", (lateness != null) ? lateness.p95().toMillis() : null)
            .put("p99Millis", (lateness != null) ? lateness.p99().toMillis() : null)
            .put("due", (backlog != null) ? backlog.due() : null)
            .put("leased", (backlog != null) ? backlog.leased() : null)
            .put("scheduled", (backlog != null) ? backlog.scheduled() : null)
            .put("dead", (backlog != null) ? backlog.dead() : null);
    }

}

package io.delayqueue.web.api;

import java.util.function.Function;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.ScheduleChangeResult;
import io.delayqueue.ScheduleDefinition;
import io.delayqueue.ScheduleOperations;
import io.delayqueue.SchedulePage;
import io.delayqueue.ScheduleStatus;
import io.delayqueue.SendResult;
import io.delayqueue.web.http.ApiRequest;
import io.delayqueue.web.http.ApiViews;
import io.delayqueue.web.http.AuditPublisher;
import io.delayqueue.web.http.Authority;
import io.delayqueue.web.http.Json;
import io.delayqueue.web.http.Problem;
import io.delayqueue.web.http.Problem.Kind;
import io.delayqueue.web.http.ProblemException;
import io.delayqueue.web.http.Responses;
import io.delayqueue.web.http.RouteTable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

import org.springframework.http.HttpMethod;
import org.springframework.web.servlet.function.ServerResponse;

/**
 * Lists, pauses, triggers and removes the schedules of a queue. Their names are in the
 * query, as they may contain slashes.
 */
final class ScheduleRoutes {

    private static final String LIST = "/queues/{queue}/schedules";

    private static final String ONE = LIST + "/by-name";

    /** How many of the next times are returned with a schedule. */
    private static final int FOLLOWING = 10;

    private final DelayQueueOperations operations;

    private final AuditPublisher audit;

    ScheduleRoutes(DelayQueueOperations operations, AuditPublisher audit) {
        this.operations = operations;
        this.audit = audit;
    }

    void addTo(RouteTable routes) {
        routes.add(HttpMethod.GET, LIST, Authority.VIEW, this::list);
        routes.add(HttpMethod.GET, ONE, Authority.VIEW, this::find);
        routes.add(HttpMethod.DELETE, ONE, Authority.OPERATE,
                (request) -> change(request, "remove-schedule", (name) -> schedules(request).remove(name)));
        routes.add(HttpMethod.PUT, ONE + "/pause", Authority.OPERATE,
                (request) -> change(request, "pause-schedule", (name) -> schedules(request).pause(name)));
        routes.add(HttpMethod.DELETE, ONE + "/pause", Authority.OPERATE,
                (request) -> change(request, "resume-schedule", (name) -> schedules(request).resume(name)));
        routes.add(HttpMethod.POST, ONE + "/trigger", Authority.OPERATE, this::trigger);
    }

    private ScheduleOperations schedules(ApiRequest request) {
        return this.operations.schedules(request.queue().value());
    }

    private static String name(ApiRequest request) {
        request.onlyQuery("name");
        return ProblemException.valid(() -> ScheduleDefinition.requireName(request.required("name")));
    }

    private ServerResponse list(ApiRequest request) {
        request.onlyQuery("cursor", "limit");
        int limit = Math.min(request.limit(), ScheduleOperations.MAX_PAGE);
        SchedulePage page = ProblemException.valid(() -> schedules(request).list(request.query("cursor"), limit));
        ObjectNode json = ApiViews.object();
        ArrayNode array = json.putArray("schedules");
        boolean unmasked = request.permits(Authority.PAYLOAD);
        page.schedules().forEach((schedule) -> array.add(schedule(schedule, unmasked)));
        return Responses.json(json.put("nextCursor", page.nextCursor()));
    }

    private ServerResponse find(ApiRequest request) {
        String name = name(request);
        ScheduleStatus schedule = schedules(request).find(name).orElseThrow(() -> missing(request, name));
        ObjectNode json = ApiViews.object();
        json.set("schedule", schedule(schedule, request.permits(Authority.PAYLOAD)));
        ArrayNode following = json.putArray("following");
        if (schedule.nextAt() != null) {
            following.add(ApiViews.time(schedule.nextAt()));
            schedule.definition()
                .preview(schedule.nextAt(), FOLLOWING - 1)
                .forEach((time) -> following.add(ApiViews.time(time)));
        }
        return Responses.json(json);
    }

    private ServerResponse change(ApiRequest request, String operation, Function<String, ScheduleChangeResult> change) {
        String name = name(request);
        ScheduleChangeResult result = this.audit.of(request.change(operation, name), () -> change.apply(name),
                (done) -> (done == ScheduleChangeResult.DONE) ? 1 : 0);
        if (result == ScheduleChangeResult.NOT_FOUND) {
            throw missing(request, name);
        }
        return Responses.json(ApiViews.object().put("result", result.name()));
    }

    private ServerResponse trigger(ApiRequest request) {
        String name = name(request);
        SendResult sent = this.audit
            .of(request.change("trigger-schedule", name), () -> schedules(request).trigger(name),
                    (done) -> done.isPresent() ? 1 : 0)
            .orElseThrow(() -> missing(request, name));
        return Responses.json(ApiViews.sent(sent));
    }

    private static ProblemException missing(ApiRequest request, String name) {
        return new ProblemException(
                new Problem(Kind.NOT_FOUND, "Queue '%s' has no schedule '%s'".formatted(request.queue(), name)));
    }

    private static ObjectNode schedule(ScheduleStatus schedule, boolean unmasked) {
        ScheduleDefinition definition = schedule.definition();
        ObjectNode json = ApiViews.object()
            .put("name", schedule.name())
            .put("cron", definition.cron().orElse(null))
            .put("fixedRateMillis", definition.fixedRate().map((rate) -> rate.toMillis()).orElse(null))
            .put("zone", definition.zone().getId())
            .put("misfire", definition.misfire().name())
            .put("catchUpLimit", definition.catchUpLimit())
            .put("overlap", definition.overlap().name())
            .put("owner", schedule.owner())
            .put("paused", schedule.paused())
            .put("nextAt", ApiViews.time(schedule.nextAt()))
            .put("lastAt", ApiViews.time(schedule.lastAt()))
            .put("sent", schedule.sent())
            .put("masked", !unmasked);
        boolean shown = unmasked && Json.isReadable(schedule.payload());
        json.set("payload", shown ? Json.raw(schedule.payload()) : null);
        ObjectNode skipped = json.putObject("skipped");
        schedule.skipped().forEach((reason, count) -> skipped.put(reason.name(), count));
        ArrayNode skips = json.putArray("skips");
        schedule.skips()
            .forEach((skip) -> skips.add(ApiViews.object()
                .put("reason", skip.reason().name())
                .put("first", ApiViews.time(skip.first()))
                .put("last", ApiViews.time(skip.last()))
                .put("count", skip.count())));
        return json;
    }

}

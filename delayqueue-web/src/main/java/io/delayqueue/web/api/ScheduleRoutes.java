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
public final class ScheduleRoutes {

    private static final String LIST = "/queues/{queue}/schedules";

    private static final String ONE = LIST + "/by-name";

    /** How many of the next times are returned with a schedule, unless requested. */
    private static final int FOLLOWING = 10;

    private static final int MAX_FOLLOWING = 1_000;

    private final DelayQueueOperations operations;

    private final AuditPublisher audit;

    public ScheduleRoutes(DelayQueueOperations operations, AuditPublisher audit) {
        this.operations = operations;
        this.audit = audit;
    }

    public void addTo(RouteTable routes) {
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
        return requiredName(request);
    }

    private static String requiredName(ApiRequest request) {
        return ProblemException.valid(() -> ScheduleDefinition.requireName(request.required("name")));
    }

    private ServerResponse list(ApiRequest request) {
        request.onlyQuery("cursor", "limit");
        int limit = Math.min(request.limit(), ScheduleOperations.MAX_PAGE);
        SchedulePage page = ProblemException.valid(() -> schedules(request).list(request.query("cursor"), limit));
        ObjectNode json = ApiViews.object();
        ArrayNode array = json.putArray("schedules");
        boolean unmasked = request.permits(Authority.PAYLOAD);
        page.schedules()
            .forEach((schedule) -> array
                .add(ScheduleViews.withPayload(ScheduleViews.schedule(schedule), schedule, unmasked)));
        ScheduleViews.withUnreadable(json, page.unreadable());
        return Responses.json(json.put("nextCursor", page.nextCursor()));
    }

    private ServerResponse find(ApiRequest request) {
        ScheduleStatus schedule = requested(this.operations, request);
        ObjectNode json = ApiViews.object();
        json.set("schedule", ScheduleViews.withPayload(ScheduleViews.schedule(schedule), schedule,
                request.permits(Authority.PAYLOAD)));
        json.set("following", ScheduleViews.following(schedule, times(request)));
        return Responses.json(json);
    }

    /** Returns the schedule that a request names; fails if there is none. */
    public static ScheduleStatus requested(DelayQueueOperations operations, ApiRequest request) {
        request.onlyQuery("name", "times");
        String name = requiredName(request);
        times(request);
        return operations.schedules(request.queue().value()).find(name).orElseThrow(() -> missing(request, name));
    }

    /** Returns how many of the next times a request asks for. */
    public static int times(ApiRequest request) {
        String text = request.query("times");
        if (text == null) {
            return FOLLOWING;
        }
        if (!text.matches("[0-9]{1,4}") || Integer.parseInt(text) < 1 || Integer.parseInt(text) > MAX_FOLLOWING) {
            throw ProblemException.invalid("Query parameter 'times' is not valid: use 1 to %d, not %s"
                .formatted(MAX_FOLLOWING, Json.quoted(text)));
        }
        return Integer.parseInt(text);
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

}

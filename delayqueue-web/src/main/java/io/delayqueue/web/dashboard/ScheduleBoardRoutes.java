package io.delayqueue.web.dashboard;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.ScheduleOperations;
import io.delayqueue.SchedulePage;
import io.delayqueue.ScheduleStatus;
import io.delayqueue.UnreadableSchedule;
import io.delayqueue.admin.DelayQueueInspector;
import io.delayqueue.admin.QueueOverview;
import io.delayqueue.web.api.QueueExistenceCheck;
import io.delayqueue.web.api.ScheduleRoutes;
import io.delayqueue.web.api.ScheduleViews;
import io.delayqueue.web.http.ApiRequest;
import io.delayqueue.web.http.ApiViews;
import io.delayqueue.web.http.Authority;
import io.delayqueue.web.http.Json;
import io.delayqueue.web.http.ProblemException;
import io.delayqueue.web.http.Responses;
import io.delayqueue.web.http.RouteTable;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

import org.springframework.http.HttpMethod;
import org.springframework.web.servlet.function.ServerResponse;

/**
 * Adds the routes that return schedules with the outcomes of their last occurrences: of
 * all queues, of one queue, and one by name.
 */
final class ScheduleBoardRoutes {

    /** Pages of the store that a request with a filter reads at most. */
    private static final int MAX_STEPS = 10;

    private final DelayQueueOperations operations;

    private final DelayQueueInspector inspector;

    private final Supplier<List<QueueOverview>> queues;

    private final OccurrenceStatusFinder outcomes;

    private final ScheduleOverviewCache overviews;

    /**
     * Creates the routes.
     * @param queues returns all queues
     */
    ScheduleBoardRoutes(DashboardServices services, Supplier<List<QueueOverview>> queues) {
        this.operations = services.operations();
        this.inspector = services.inspector();
        this.queues = queues;
        this.outcomes = new OccurrenceStatusFinder(services.operations(), services.history());
        this.overviews = new ScheduleOverviewCache(services.operations(), this.outcomes, System::nanoTime);
    }

    void addTo(RouteTable routes) {
        routes.add(HttpMethod.GET, "/schedules", Authority.VIEW, this::all);
        routes.add(HttpMethod.GET, "/queues/{queue}/schedules", Authority.VIEW, this::list);
        routes.add(HttpMethod.GET, "/queues/{queue}/schedules/by-name", Authority.VIEW, this::find);
    }

    /** Lets the next request read all queues again, because a schedule was changed. */
    void readAgain() {
        this.overviews.clear();
    }

    private ServerResponse all(ApiRequest request) {
        request.onlyQuery();
        ScheduleOverviewCache.Schedules all = this.overviews
            .get(this.queues.get().stream().map(QueueOverview::queue).toList());
        ObjectNode json = ApiViews.object();
        ArrayNode array = json.putArray("schedules");
        boolean unmasked = request.permits(Authority.PAYLOAD);
        all.entries().forEach((entry) -> array.add(entry(entry.schedule(), entry.outcome(), unmasked)));
        all.more().forEach(json.putArray("more")::add);
        all.unread().forEach(json.putArray("unread")::add);
        json.put("left", all.left());
        return Responses.json(json.put("ageMillis", TimeUnit.NANOSECONDS.toMillis(this.overviews.age(all))));
    }

    /** Filters page by page, so a page may be empty and still not be the last. */
    private ServerResponse list(ApiRequest request) {
        request.onlyQuery("nameContains", "paused", "cursor", "limit");
        String queue = request.queue().value();
        String text = request.query("nameContains");
        boolean pausedOnly = paused(request.query("paused"));
        int limit = Math.min(request.limit(), ScheduleOperations.MAX_PAGE);
        List<ScheduleStatus> found = new ArrayList<>();
        List<UnreadableSchedule> unreadable = new ArrayList<>();
        String cursor = request.query("cursor");
        boolean first = cursor == null;
        int steps = 0;
        do {
            String from = cursor;
            SchedulePage page = ProblemException.valid(() -> this.operations.schedules(queue).list(from, limit));
            page.schedules()
                .stream()
                .filter((one) -> (text == null || contains(one.name(), text)) && (!pausedOnly || one.paused()))
                .forEach(found::add);
            unreadable.addAll(page.unreadable());
            cursor = page.nextCursor();
            steps++;
        }
        while (cursor != null && found.size() < limit && steps < MAX_STEPS);
        if (first && found.isEmpty() && unreadable.isEmpty() && cursor == null) {
            QueueExistenceCheck.overview(this.inspector, request.queue());
        }
        ObjectNode json = page(queue, found, request.permits(Authority.PAYLOAD));
        return Responses.json(ScheduleViews.withUnreadable(json, unreadable).put("nextCursor", cursor));
    }

    private ObjectNode page(String queue, List<ScheduleStatus> schedules, boolean unmasked) {
        Map<String, OccurrenceStatus> ends = this.outcomes.find(queue, schedules);
        ObjectNode json = ApiViews.object();
        ArrayNode array = json.putArray("schedules");
        schedules.forEach((one) -> array.add(entry(one, ends.get(one.name()), unmasked)));
        return json;
    }

    private static boolean paused(@Nullable String text) {
        if (text != null && !text.equals("true") && !text.equals("false")) {
            throw ProblemException
                .invalid("Query parameter 'paused' is not valid: use true or false, not " + Json.quoted(text));
        }
        return "true".equals(text);
    }

    private static boolean contains(String name, String text) {
        return name.toLowerCase(Locale.ROOT).contains(text.toLowerCase(Locale.ROOT));
    }

    private ServerResponse find(ApiRequest request) {
        ScheduleStatus schedule = ScheduleRoutes.requested(this.operations, request);
        boolean unmasked = request.permits(Authority.PAYLOAD);
        ObjectNode json = ApiViews.object();
        json.set("schedule", entry(schedule, this.outcomes.find(schedule), unmasked));
        json.set("following", ScheduleViews.following(schedule, ScheduleRoutes.times(request)));
        return Responses.json(ScheduleViews.withPayload(json, schedule, unmasked));
    }

    private static ObjectNode entry(ScheduleStatus schedule, @Nullable OccurrenceStatus outcome, boolean unmasked) {
        ObjectNode json = ScheduleViews.schedule(schedule).put("queue", schedule.queue());
        json.set("lastOutcome", (outcome != null) ? outcome.toJson(unmasked) : null);
        return json;
    }

}

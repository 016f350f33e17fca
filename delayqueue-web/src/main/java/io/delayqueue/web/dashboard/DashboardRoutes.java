package io.delayqueue.web.dashboard;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import io.delayqueue.DeadLetter;
import io.delayqueue.DeadLetterFilter;
import io.delayqueue.DeadLetterPage;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.admin.DelayQueueInspector;
import io.delayqueue.admin.QueueOverview;
import io.delayqueue.journal.JournalOperations;
import io.delayqueue.store.ServerMonitor;
import io.delayqueue.web.api.DeadLetterRoutes;
import io.delayqueue.web.api.QueueExistenceCheck;
import io.delayqueue.web.api.QueueRoutes;
import io.delayqueue.web.http.ApiViews;
import io.delayqueue.web.http.ApiRequest;
import io.delayqueue.web.http.RouteTable;
import io.delayqueue.web.http.Authority;
import io.delayqueue.web.http.Json;
import io.delayqueue.web.http.JsonObjectReader;
import io.delayqueue.web.http.Responses;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

import org.springframework.http.HttpMethod;
import org.springframework.web.servlet.function.ServerResponse;

/**
 * Adds the routes of the dashboard that the API lacks, but for those of schedules: the
 * overview, the next hour, the state of the store, one queue, and the search of dead
 * letters.
 */
final class DashboardRoutes {

    private static final int MAX_DETAIL = 500;

    private final DelayQueueOperations operations;

    private final DelayQueueInspector inspector;

    private final OverviewCache overviews;

    private final ServerMonitor server;

    private final NodeLatenessReader throughput;

    private final LatenessWindow lateness;

    private final Duration objective;

    private final NextHourCache nextHours;

    /** Whether the application records the history of messages. */
    private final boolean history;

    private final @Nullable JournalOperations journal;

    DashboardRoutes(DashboardServices services) {
        this.operations = services.operations();
        this.inspector = services.inspector();
        this.server = services.server();
        this.overviews = new OverviewCache(services.inspector(), services.server(),
                new AlertEvaluator(services.consumed(), services.journalStatus()), System::nanoTime,
                services.commandTimeout());
        this.throughput = new NodeLatenessReader(services.listeners());
        this.lateness = new LatenessWindow(this.throughput::byQueue, System::nanoTime);
        this.objective = services.latenessObjective();
        this.nextHours = new NextHourCache(services.inspector(), System::nanoTime);
        this.history = services.history() != null;
        this.journal = services.journal();
    }

    void addTo(RouteTable routes) {
        routes.add(HttpMethod.GET, "/overview", Authority.VIEW, this::overview);
        routes.add(HttpMethod.GET, "/next-hour", Authority.VIEW, this::nextHour);
        routes.add(HttpMethod.GET, "/store", Authority.VIEW, this::store);
        routes.add(HttpMethod.GET, "/queues/{queue}", Authority.VIEW, this::queue);
        routes.add(HttpMethod.POST, "/queues/{queue}/dead-letters/search", Authority.VIEW, this::search);
    }

    /** Returns all queues, as the overview shows them. */
    List<QueueOverview> queues() {
        return this.overviews.get().read().overviews();
    }

    private ServerResponse overview(ApiRequest request) {
        request.onlyQuery();
        OverviewCache.Snapshot snapshot = this.overviews.get();
        ObjectNode json = ApiViews.object()
            .put("now", ApiViews.time(snapshot.now()))
            .put("principal", request.principal())
            .put("history", this.history)
            .put("objectiveMillis", this.objective.toMillis());
        ArrayNode authorities = json.putArray("authorities");
        Stream.of(Authority.values()).filter(request::permits).forEach((one) -> authorities.add(one.name()));
        ArrayNode queues = json.putArray("queues");
        Map<String, Long> p99 = new HashMap<>(this.lateness.p99());
        snapshot.lateness().forEach((queue, lateness) -> p99.put(queue, lateness.p99().toMillis()));
        snapshot.read()
            .overviews()
            .forEach((queue) -> queues.add(ApiViews.overview(queue).put("latenessMillis", p99.get(queue.queue()))));
        json.set("failures", ApiViews.failures(snapshot.read()));
        ArrayNode alerts = json.putArray("alerts");
        snapshot.alerts().forEach((alert) -> alerts.add(alert.toJson()));
        json.set("throughput", this.throughput.toJson(null));
        return Responses.large(json.put("more", snapshot.more()));
    }

    private ServerResponse nextHour(ApiRequest request) {
        request.onlyQuery();
        NextHourCache.NextHour next = this.nextHours.get(this.overviews.get().read().overviews());
        ObjectNode json = ApiViews.object().put("queues", next.queues());
        ArrayNode minutes = json.putArray("minutes");
        next.minutes()
            .forEach((from, count) -> minutes
                .add(ApiViews.object().put("from", ApiViews.time(from)).put("count", count)));
        return Responses.json(json);
    }

    /** Answers at once, also while the store does not. */
    private ServerResponse store(ApiRequest request) {
        request.onlyQuery();
        StoreStatus status = this.overviews.status();
        Duration unanswered = status.unansweredFor();
        String failure = status.failure();
        return Responses.json(ApiViews.object()
            .put("address", this.server.address())
            .put("unansweredForMillis", (unanswered != null) ? unanswered.toMillis() : null)
            .put("failure", (failure != null) ? Json.line(failure, MAX_DETAIL) : null));
    }

    private ServerResponse queue(ApiRequest request) {
        request.onlyQuery();
        String queue = request.queue().value();
        ObjectNode json = ApiViews.overview(QueueExistenceCheck.overview(this.inspector, request.queue()));
        json.set("throughput", this.throughput.toJson(queue));
        json.put("schedules", QueueRoutes.hasSchedules(this.operations, queue));
        return Responses.json(json.put("ledger", this.journal != null && this.journal.covers(queue)));
    }

    /** Filters page by page, so a page may be empty and still not be the last. */
    private ServerResponse search(ApiRequest request) {
        request.onlyQuery("limit");
        JsonObjectReader body = request.body("filter", "cursor");
        DeadLetterFilter filter = DeadLetterRoutes.filter(request, body);
        DeadLetterPage page = this.operations.deadLetters(request.queue().value())
            .list(DeadLetterRoutes.cursor(body.text("cursor")), request.limit());
        if (page.deadLetters().isEmpty()) {
            QueueExistenceCheck.overview(this.inspector, request.queue());
        }
        boolean unmasked = request.permits(Authority.PAYLOAD);
        ObjectNode json = ApiViews.object();
        ArrayNode array = json.putArray("deadLetters");
        for (DeadLetter found : page.deadLetters()) {
            if (filter.matches(found)) {
                array.add(ApiViews.deadLetter(found, unmasked));
            }
        }
        return Responses.json(json.put("examined", page.deadLetters().size()).put("nextCursor", page.nextCursor()));
    }

}

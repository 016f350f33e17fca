package io.delayqueue.web.dashboard;

import java.util.stream.Stream;

import io.delayqueue.DeadLetter;
import io.delayqueue.DeadLetterFilter;
import io.delayqueue.DeadLetterPage;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.admin.DelayQueueInspector;
import io.delayqueue.web.api.DeadLetterRoutes;
import io.delayqueue.web.http.ApiRequest;
import io.delayqueue.web.http.ApiRoutes;
import io.delayqueue.web.http.Authority;
import io.delayqueue.web.http.JsonFields;
import io.delayqueue.web.http.JsonViews;
import io.delayqueue.web.http.Responses;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

import org.springframework.http.HttpMethod;
import org.springframework.web.servlet.function.ServerResponse;

/** Serves the data of the dashboard that the API does not have. */
final class DashboardRoutes {

    private final DelayQueueOperations operations;

    private final DelayQueueInspector inspector;

    private final OverviewCache glance;

    private final NodeThroughput flow;

    DashboardRoutes(DashboardServices sources) {
        this.operations = sources.operations();
        this.inspector = sources.inspector();
        this.glance = new OverviewCache(sources.inspector(), sources.server(), new AlertEvaluator(sources.consumed()),
                System::nanoTime, sources.commandTimeout());
        this.flow = new NodeThroughput(sources.listeners());
    }

    void addTo(ApiRoutes routes) {
        routes.add(HttpMethod.GET, "/overview", Authority.VIEW, this::overview);
        routes.add(HttpMethod.GET, "/queues/{queue}/details", Authority.VIEW, this::details);
        routes.add(HttpMethod.POST, "/queues/{queue}/dead-letters/matching", Authority.VIEW, this::letters);
    }

    private ServerResponse overview(ApiRequest request) {
        request.onlyQuery();
        OverviewCache.Sight sight = this.glance.look();
        ObjectNode json = JsonViews.object().put("now", JsonViews.time(sight.now())).put("who", request.who());
        ArrayNode authorities = json.putArray("authorities");
        Stream.of(Authority.values()).filter(request::permits).forEach((one) -> authorities.add(one.name()));
        ArrayNode queues = json.putArray("queues");
        sight.read().overviews().forEach((queue) -> queues.add(JsonViews.overview(queue)));
        json.set("failures", JsonViews.failures(sight.read()));
        ArrayNode problems = json.putArray("problems");
        sight.troubles().forEach((trouble) -> problems.add(trouble.toJson()));
        json.set("flow", this.flow.toJson(null));
        return Responses.json(json.put("more", sight.more()));
    }

    private ServerResponse details(ApiRequest request) {
        request.onlyQuery();
        String queue = request.queue().value();
        ObjectNode json = JsonViews.overview(this.inspector.overview(queue));
        json.set("horizon", JsonViews.horizon(this.inspector.horizon(queue)));
        json.set("flow", this.flow.toJson(queue));
        return Responses.json(json);
    }

    /** Filters page by page, so a page may be empty and still not be the last. */
    private ServerResponse letters(ApiRequest request) {
        request.onlyQuery("limit");
        JsonFields body = request.body("filter", "cursor");
        DeadLetterFilter filter = DeadLetterRoutes.filter(request, body);
        DeadLetterPage page = this.operations.deadLetters(request.queue().value())
            .list(DeadLetterRoutes.cursor(body.text("cursor")), request.limit());
        boolean open = request.permits(Authority.PAYLOAD);
        ObjectNode json = JsonViews.object();
        ArrayNode array = json.putArray("letters");
        for (DeadLetter letter : page.letters()) {
            if (filter.matches(letter)) {
                array.add(JsonViews.letter(letter, open));
            }
        }
        return Responses.json(json.put("nextCursor", page.nextCursor()));
    }

}

package io.delayqueue.web;

import java.util.stream.Stream;

import io.delayqueue.DeadLetter;
import io.delayqueue.DeadLetterFilter;
import io.delayqueue.DeadLetterPage;
import io.delayqueue.DelayQueueInspector;
import io.delayqueue.DelayQueueOperations;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

import org.springframework.http.HttpMethod;
import org.springframework.web.servlet.function.ServerResponse;

/** What the dashboard asks for besides the routes that it shares with the API. */
final class DashboardRoutes {

    private final DelayQueueOperations operations;

    private final DelayQueueInspector inspector;

    private final Glance glance;

    private final NodeFlow flow;

    DashboardRoutes(DashboardSources sources) {
        this.operations = sources.operations();
        this.inspector = sources.inspector();
        this.glance = new Glance(sources.inspector(), sources.server(), new TroubleFinder(sources.consumed()),
                System::nanoTime, sources.commandTimeout());
        this.flow = new NodeFlow(sources.listeners());
    }

    void addTo(ApiRoutes routes) {
        routes.add(HttpMethod.GET, "/overview", Authority.VIEW, this::overview);
        routes.add(HttpMethod.GET, "/queues/{queue}/details", Authority.VIEW, this::details);
        routes.add(HttpMethod.POST, "/queues/{queue}/dead-letters/matching", Authority.VIEW, this::letters);
    }

    private ServerResponse overview(ApiRequest request) {
        request.onlyQuery();
        Glance.Sight sight = this.glance.look();
        ObjectNode json = Views.object().put("now", Views.time(sight.now())).put("who", request.who());
        ArrayNode authorities = json.putArray("authorities");
        Stream.of(Authority.values()).filter(request::permits).forEach((one) -> authorities.add(one.name()));
        ArrayNode queues = json.putArray("queues");
        sight.read().overviews().forEach((queue) -> queues.add(Views.overview(queue)));
        json.set("failures", Views.failures(sight.read()));
        ArrayNode problems = json.putArray("problems");
        sight.troubles().forEach((trouble) -> problems.add(trouble.toJson()));
        json.set("flow", this.flow.toJson(null));
        return Answer.json(json.put("more", sight.more()));
    }

    private ServerResponse details(ApiRequest request) {
        request.onlyQuery();
        String queue = request.queue().value();
        ObjectNode json = Views.overview(this.inspector.overview(queue));
        json.set("horizon", Views.horizon(this.inspector.horizon(queue)));
        json.set("flow", this.flow.toJson(queue));
        return Answer.json(json);
    }

    /**
     * With a filter one page may have few letters, or none, and still not be the last.
     */
    private ServerResponse letters(ApiRequest request) {
        request.onlyQuery("limit");
        Fields body = request.body("filter", "cursor");
        DeadLetterFilter filter = DeadLetterRoutes.filter(request, body);
        DeadLetterPage page = this.operations.deadLetters(request.queue().value())
            .list(DeadLetterRoutes.cursor(body.text("cursor")), request.limit());
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

}

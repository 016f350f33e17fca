package io.delayqueue.web.api;

import java.util.List;
import java.util.Set;

import io.delayqueue.CancelResult;
import io.delayqueue.CauseMasking;
import io.delayqueue.admin.HistoryEntry;
import io.delayqueue.admin.HistoryEntry.Event;
import io.delayqueue.admin.MessageHistory;
import io.delayqueue.admin.MessageHistory.Erasure;
import io.delayqueue.web.http.ApiViews;
import io.delayqueue.web.http.ApiRequest;
import io.delayqueue.web.http.RouteTable;
import io.delayqueue.web.http.AuditPublisher;
import io.delayqueue.web.http.Authority;
import io.delayqueue.web.http.Problem;
import io.delayqueue.web.http.Problem.Kind;
import io.delayqueue.web.http.ProblemException;
import io.delayqueue.web.http.Responses;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

import org.springframework.http.HttpMethod;
import org.springframework.web.servlet.function.ServerResponse;

/** Returns the recorded transitions of a message, and erases an id. */
public final class HistoryRoutes {

    private static final String PATH = "/queues/{queue}/messages/by-id/history";

    /** Events whose details are causes, which may quote a payload. */
    private static final Set<Event> WITH_CAUSE = Set.of(Event.FAILED, Event.DEAD_LETTERED);

    private final @Nullable MessageHistory history;

    private final AuditPublisher audit;

    /**
     * Creates the routes.
     * @param history the history; {@code null} if this application records none
     * @param audit publishes erasures
     */
    public HistoryRoutes(@Nullable MessageHistory history, AuditPublisher audit) {
        this.history = history;
        this.audit = audit;
    }

    public void addTo(RouteTable routes) {
        routes.add(HttpMethod.GET, PATH, Authority.VIEW, this::read);
        routes.add(HttpMethod.DELETE, PATH, Authority.OPERATE, this::erase);
    }

    private ServerResponse read(ApiRequest request) {
        request.onlyQuery("id");
        List<HistoryEntry> entries = history().of(request.queue().value(), request.id());
        boolean unmasked = request.permits(Authority.PAYLOAD);
        ObjectNode json = ApiViews.object()
            .put("queue", request.queue().value())
            .put("id", request.id())
            .put("masked", !unmasked);
        ArrayNode array = json.putArray("entries");
        entries.forEach((entry) -> array.add(entry(entry, unmasked)));
        return Responses.json(json);
    }

    private static ObjectNode entry(HistoryEntry entry, boolean unmasked) {
        String detail = entry.detail();
        if (detail != null && !unmasked && WITH_CAUSE.contains(entry.event())) {
            detail = CauseMasking.masked(detail);
        }
        return ApiViews.object()
            .put("at", ApiViews.time(entry.at()))
            .put("event", entry.event().name())
            .put("node", entry.node())
            .put("attempt", entry.attempt())
            .put("detail", detail);
    }

    private ServerResponse erase(ApiRequest request) {
        request.onlyQuery("id");
        String queue = request.queue().value();
        MessageHistory known = history();
        Erasure erasure = this.audit.of(request.change("erase", request.id()), () -> known.erase(queue, request.id()),
                (done) -> done.deadLetters() + ((done.message() != CancelResult.NOT_FOUND) ? 1 : 0));
        return Responses.json(ApiViews.object()
            .put("message", erasure.message().name())
            .put("deadLetters", erasure.deadLetters())
            .put("entries", erasure.entries()));
    }

    private MessageHistory history() {
        if (this.history == null) {
            throw new ProblemException(new Problem(Kind.NOT_FOUND,
                    "This application records no history of messages (delayqueue.journal.mode)"));
        }
        return this.history;
    }

}

package io.delayqueue.web.api;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.delayqueue.QueueName;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.admin.DelayQueueInspector;
import io.delayqueue.admin.IdMatch;
import io.delayqueue.admin.IdSearchPage;
import io.delayqueue.admin.MessageHistory;
import io.delayqueue.admin.MessageScanPage;
import io.delayqueue.admin.RetryingCount;
import io.delayqueue.admin.ScanSelection;
import io.delayqueue.web.http.ApiViews;
import io.delayqueue.web.http.ApiRequest;
import io.delayqueue.web.http.RouteTable;
import io.delayqueue.web.http.Authority;
import io.delayqueue.web.http.Json;
import io.delayqueue.web.http.ProblemException;
import io.delayqueue.web.http.Responses;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

import org.springframework.http.HttpMethod;
import org.springframework.web.servlet.function.ServerResponse;

/**
 * Finds messages and dead letters: in all queues by an id, in one queue by the beginning
 * of ids. Each request takes a part of the search.
 */
public final class SearchRoutes {

    private static final Pattern ID_PREFIX = Pattern.compile("[\\x21-\\x7e]{0,128}");

    private static final int MAX_CURSOR = 200;

    private final DelayQueueInspector inspector;

    private final @Nullable MessageHistory history;

    /**
     * Creates the routes.
     * @param history finds messages that have ended; {@code null} if none is recorded
     */
    public SearchRoutes(DelayQueueInspector inspector, @Nullable MessageHistory history) {
        this.inspector = inspector;
        this.history = history;
    }

    public void addTo(RouteTable routes) {
        routes.add(HttpMethod.GET, "/search", Authority.VIEW, this::search);
        routes.add(HttpMethod.GET, "/queues/{queue}/scan", Authority.VIEW, this::scan);
        routes.add(HttpMethod.GET, "/queues/{queue}/retrying", Authority.VIEW, this::retrying);
    }

    private ServerResponse search(ApiRequest request) {
        request.onlyQuery("id", "cursor");
        String id = request.id();
        IdSearchPage page = ProblemException.valid(() -> this.inspector.search(id, request.query("cursor")));
        ObjectNode json = ApiViews.object().put("id", id);
        ArrayNode matches = json.putArray("matches");
        page.matches()
            .forEach((match) -> matches.add(ApiViews.object()
                .put("queue", match.queue())
                .put("kind", match.kind().name())
                .put("deadLetterId", match.deadLetterId())
                .put("deadLetteredAt", ApiViews.time(match.deadLetteredAt()))));
        List<String> ended = ended(id, page);
        if (ended != null) {
            ended.forEach((queue) -> matches.add(ApiViews.object()
                .put("queue", queue)
                .put("kind", "ENDED")
                .putNull("deadLetterId")
                .putNull("deadLetteredAt")));
        }
        ArrayNode unread = json.putArray("unread");
        page.unread().forEach(unread::add);
        return Responses.json(json.put("searched", page.queues().size())
            .put("historyUnread", ended == null)
            .put("nextCursor", page.nextCursor()));
    }

    /**
     * Returns the queues of which only the history knows the id; {@code null} if its
     * database does not answer, which must not hide what Redis holds.
     */
    private @Nullable List<String> ended(String id, IdSearchPage page) {
        if (this.history == null) {
            return List.of();
        }
        Set<String> present = page.matches().stream().map(IdMatch::queue).collect(Collectors.toSet());
        try {
            List<String> queues = new ArrayList<>(
                    this.history.queuesOf(id, Stream.concat(page.queues().stream(), page.unread().stream()).toList()));
            queues.removeAll(present);
            return queues;
        }
        catch (StoreUnavailableException ex) {
            return null;
        }
    }

    private ServerResponse scan(ApiRequest request) {
        request.onlyQuery("selection", "idPrefix", "cursor");
        QueueName queue = request.queue();
        ScanSelection selection = selection(request.query("selection"));
        String cursor = request.query("cursor");
        if (cursor == null) {
            QueueExistenceCheck.overview(this.inspector, queue);
        }
        else if (cursor.length() > MAX_CURSOR) {
            throw ProblemException.invalid("Query parameter 'cursor' is not valid: use the nextCursor of a page");
        }
        String prefix = idPrefix(request.query("idPrefix"));
        MessageScanPage page = ProblemException
            .valid(() -> this.inspector.scan(queue.value(), selection, prefix, cursor));
        boolean open = request.permits(Authority.PAYLOAD);
        ObjectNode json = ApiViews.object();
        ArrayNode messages = json.putArray("messages");
        page.messages().forEach((message) -> messages.add(ApiViews.summary(message, open)));
        ArrayNode deadLetters = json.putArray("deadLetters");
        page.deadLetters().forEach((deadLetter) -> deadLetters.add(ApiViews.deadLetterSummary(deadLetter)));
        return Responses.json(json.put("examined", page.examined()).put("nextCursor", page.nextCursor()));
    }

    private static ScanSelection selection(@Nullable String text) {
        return Stream.of(ScanSelection.values())
            .filter((one) -> one.name().equals((text != null) ? text : ScanSelection.ALL.name()))
            .findFirst()
            .orElseThrow(
                    () -> ProblemException.invalid("Query parameter 'selection' is not valid: use one of %s, not %s"
                        .formatted(new TreeSet<>(List.of(ScanSelection.values())), Json.quoted(String.valueOf(text)))));
    }

    private static String idPrefix(@Nullable String text) {
        String prefix = (text != null) ? text : "";
        if (!ID_PREFIX.matcher(prefix).matches()) {
            throw ProblemException.invalid("Query parameter 'idPrefix' is not valid: use at most 128 characters of "
                    + "an id, not " + Json.quoted(prefix));
        }
        return prefix;
    }

    private ServerResponse retrying(ApiRequest request) {
        request.onlyQuery();
        QueueExistenceCheck.overview(this.inspector, request.queue());
        RetryingCount count = this.inspector.retrying(request.queue().value());
        return Responses.json(ApiViews.object()
            .put("queue", count.queue())
            .put("count", count.count())
            .put("complete", count.complete()));
    }

}

package io.delayqueue.web.api;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedMessage;
import io.delayqueue.OnDuplicate;
import io.delayqueue.PayloadConversionException;
import io.delayqueue.PayloadTooLargeException;
import io.delayqueue.QueueName;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.UnknownQueueException;
import io.delayqueue.admin.AuditedOperationEvent.Outcome;
import io.delayqueue.web.http.ApiViews;
import io.delayqueue.web.http.ApiRequest;
import io.delayqueue.web.http.RouteTable;
import io.delayqueue.web.http.AuditPublisher;
import io.delayqueue.web.http.Authority;
import io.delayqueue.web.http.JsonObjectReader;
import io.delayqueue.web.http.ProblemException;
import io.delayqueue.web.http.Responses;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.POJONode;

import org.springframework.http.HttpMethod;
import org.springframework.web.servlet.function.ServerResponse;
import org.springframework.web.util.UriUtils;

import static java.nio.charset.StandardCharsets.UTF_8;

/** Sends one message, one message under an id in the address, or a batch. */
final class SendRoutes {

    private static final Set<String> FIELDS = Set.of("id", "payload", "delayMillis", "dueAt", "onDuplicate", "priority",
            "timeToLiveMillis", "group", "headers");

    private final DelayQueueOperations operations;

    private final AuditPublisher audit;

    SendRoutes(DelayQueueOperations operations, AuditPublisher audit) {
        this.operations = operations;
        this.audit = audit;
    }

    void addTo(RouteTable routes) {
        routes.add(HttpMethod.POST, "/queues/{queue}/messages", Authority.SEND, this::send);
        routes.add(HttpMethod.PUT, "/queues/{queue}/messages/by-id", Authority.SEND, this::put);
        routes.add(HttpMethod.POST, "/queues/{queue}/messages/batch", Authority.SEND, this::batch);
    }

    private ServerResponse send(ApiRequest request) {
        request.onlyQuery();
        QueueName queue = request.queue();
        return send(request, message(queue, body(request), request.settings().maxDelay(), null), "messages/by-id");
    }

    private ServerResponse put(ApiRequest request) {
        request.onlyQuery("id");
        QueueName queue = request.queue();
        return send(request, message(queue, body(request), request.settings().maxDelay(), request.id()), "by-id");
    }

    private static JsonObjectReader body(ApiRequest request) {
        return request.body(FIELDS.toArray(String[]::new));
    }

    /**
     * Sends one message.
     * @param location the address of messages by id, relative to that of the request,
     * which a proxy may have changed
     */
    private ServerResponse send(ApiRequest request, DelayedMessage message, String location) {
        SendResult result = sent(request, message.id().orElse(null), List.of(message),
                () -> List.of(this.operations.send(message)))
            .get(0);
        return (result.outcome() == SendOutcome.SCHEDULED) ? Responses
            .created("%s?id=%s".formatted(location, UriUtils.encode(result.id(), UTF_8)), ApiViews.sent(result))
                : Responses.json(ApiViews.sent(result));
    }

    private ServerResponse batch(ApiRequest request) {
        request.onlyQuery();
        QueueName queue = request.queue();
        List<JsonObjectReader> all = request.body("messages")
            .objects("messages", request.settings().maxBatch(), FIELDS);
        List<DelayedMessage> messages = new ArrayList<>();
        all.forEach((fields) -> messages.add(message(queue, fields, request.settings().maxDelay(), null)));
        ObjectNode json = ApiViews.object();
        ArrayNode array = json.putArray("results");
        sent(request, null, messages, () -> this.operations.sendAll(messages))
            .forEach((result) -> array.add(ApiViews.sent(result)));
        return Responses.json(json);
    }

    /**
     * Sends and audits. Replacements are audited separately, because the replaced message
     * may be another sender's.
     */
    private List<SendResult> sent(ApiRequest request, @Nullable String id, List<DelayedMessage> messages,
            Supplier<List<SendResult>> call) {
        List<SendResult> results;
        try {
            results = call.get();
        }
        catch (PayloadTooLargeException | PayloadConversionException ex) {
            throw ProblemException.invalid(String.valueOf(ex.getMessage()));
        }
        catch (UnknownQueueException ex) {
            // Its message may name other queues, which the caller need not know.
            throw ProblemException.invalid("Queue '%s' is not known to the application".formatted(ex.queue()));
        }
        catch (RuntimeException ex) {
            String stored = (ex instanceof DelayQueueException known) ? known.messageId().orElse(id) : id;
            this.audit.failed(request.change("send", stored), ex);
            throw ex;
        }
        Map<Boolean, List<SendResult>> byReplacement = IntStream.range(0, results.size())
            .boxed()
            .collect(Collectors.partitioningBy((i) -> isReplacement(messages.get(i), results.get(i)),
                    Collectors.mapping(results::get, Collectors.toList())));
        byReplacement.forEach((replacing, some) -> {
            if (!some.isEmpty()) {
                String ids = some.stream().map(SendResult::id).collect(Collectors.joining(" "));
                this.audit.publish(request.change(replacing ? "replace" : "send", ids),
                        some.stream().filter((result) -> result.outcome() != SendOutcome.KEPT).count(), Outcome.DONE);
            }
        });
        return results;
    }

    /**
     * A message sent after one in flight replaces an earlier successor only if the caller
     * requested replacement.
     */
    private static boolean isReplacement(DelayedMessage message, SendResult result) {
        return result.outcome() == SendOutcome.REPLACED
                || (result.outcome() == SendOutcome.AFTER_CURRENT && message.onDuplicate() == OnDuplicate.REPLACE);
    }

    /** Builds a message. Problems name the field by its position in the body. */
    private static DelayedMessage message(QueueName queue, JsonObjectReader fields, Duration maxDelay,
            @Nullable String id) {
        JsonNode payload = fields.value("payload");
        if (payload == null) {
            throw ProblemException.invalid("Field '%spayload' is needed, and not null".formatted(fields.place()));
        }
        try {
            // Pass the raw text, so that the application's mapper does not rewrite it.
            DelayedMessage.Builder builder = DelayedMessage.builder(queue.value(), ((POJONode) payload).getPojo());
            due(builder, fields, maxDelay);
            identity(builder, fields, id);
            Integer priority = fields.integer("priority");
            if (priority != null) {
                builder.priority(priority);
            }
            Duration timeToLive = fields.millis("timeToLiveMillis");
            if (timeToLive != null) {
                builder.timeToLive(timeToLive);
            }
            fields.texts("headers").forEach(builder::header);
            return builder.afterCommit(false).build();
        }
        catch (IllegalArgumentException ex) {
            throw ProblemException.invalid(fields.place().isEmpty() ? String.valueOf(ex.getMessage())
                    : "%s: %s".formatted(fields.place().substring(0, fields.place().length() - 1), ex.getMessage()));
        }
    }

    private static void due(DelayedMessage.Builder builder, JsonObjectReader fields, Duration maxDelay) {
        Instant dueAt = fields.instant("dueAt");
        if (dueAt != null && fields.value("delayMillis") != null) {
            throw ProblemException.invalid("Fields '%1$sdelayMillis' and '%1$sdueAt' are both there; use one or none"
                .formatted(fields.place()));
        }
        if (dueAt != null) {
            builder.dueAt(dueAt);
        }
        else {
            builder.delay(fields.millis("delayMillis", Duration.ZERO, Duration.ZERO, maxDelay));
        }
    }

    private static void identity(DelayedMessage.Builder builder, JsonObjectReader fields, @Nullable String address) {
        String id = fields.text("id");
        if (address != null && id != null && !id.equals(address)) {
            throw ProblemException.invalid("Field 'id' is not that of the address; leave it out");
        }
        if (address != null || id != null) {
            builder.id((address != null) ? address : String.valueOf(id));
        }
        builder.onDuplicate(fields.choice("onDuplicate", OnDuplicate.KEEP));
        String group = fields.text("group");
        if (group != null) {
            builder.group(group);
        }
    }

}

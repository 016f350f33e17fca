package io.delayqueue.web.http;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;

import io.delayqueue.DeadLetter;
import io.delayqueue.MessageSummary;
import io.delayqueue.SendResult;
import io.delayqueue.StoredMessage;
import io.delayqueue.admin.DueForecast;
import io.delayqueue.admin.NodeStatus;
import io.delayqueue.admin.QueueOverview;
import io.delayqueue.admin.QueueOverviews;
import io.delayqueue.store.CauseMasking;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Converts queues, messages and dead letters to JSON. Absent values are {@code null}, so
 * that every field is present. For callers without {@code DELAYQUEUE_PAYLOAD}, payload
 * and headers are left out, and causes are masked.
 */
public final class ApiJsonMapper {

    private static final int MAX_DETAIL = 500;

    private ApiJsonMapper() {
    }

    public static ObjectNode object() {
        return JsonNodeFactory.instance.objectNode();
    }

    public static ObjectNode sent(SendResult result) {
        return object().put("queue", result.queue())
            .put("id", result.id())
            .put("dueAt", time(result.dueAt()))
            .put("outcome", result.outcome().name());
    }

    public static ObjectNode overview(QueueOverview overview) {
        Duration oldestDue = overview.oldestDue();
        return object().put("queue", overview.queue())
            .put("partitions", overview.partitions())
            .put("scheduled", overview.scheduled())
            .put("due", overview.due())
            .put("waitingInGroup", overview.waitingInGroup())
            .put("leased", overview.leased())
            .put("lapsed", overview.lapsed())
            .put("dead", overview.dead())
            .put("nextDueAt", time(overview.nextDueAt()))
            .put("oldestDueMillis", (oldestDue != null) ? oldestDue.toMillis() : null)
            .put("paused", overview.paused())
            .put("pausedUntil", time(overview.pausedUntil()))
            .put("now", time(overview.now()));
    }

    /** Lists the queues that could not be read, and why. */
    public static ArrayNode failures(QueueOverviews read) {
        ArrayNode array = JsonNodeFactory.instance.arrayNode();
        read.failures()
            .forEach((queue,
                    failure) -> array.add(object().put("queue", queue)
                        .put("type", ProblemTranslator.of(failure).kind().urn())
                        .put("detail", Json.line(String.valueOf(failure.getMessage()), MAX_DETAIL))));
        return array;
    }

    public static ObjectNode dueCounts(DueForecast counts) {
        return object().put("queue", counts.queue())
            .put("overdue", counts.overdue())
            .put("minute", counts.minute())
            .put("hour", counts.hour())
            .put("day", counts.day())
            .put("week", counts.week())
            .put("later", counts.later())
            .put("waitingInGroup", counts.waitingInGroup());
    }

    public static ObjectNode node(NodeStatus node) {
        ObjectNode json = object().put("id", node.id())
            .put("application", node.application())
            .put("host", node.host())
            .put("pid", node.pid())
            .put("version", node.version())
            .put("startedAt", time(node.startedAt()))
            .put("seenAt", time(node.seenAt()));
        ArrayNode listeners = json.putArray("listeners");
        node.listeners().forEach((listener) -> {
            ObjectNode entry = object().put("id", listener.id());
            ArrayNode queues = entry.putArray("queues");
            listener.queues().forEach(queues::add);
            listeners.add(entry.put("concurrency", listener.concurrency())
                .put("free", listener.free())
                .put("running", listener.running())
                .put("paused", listener.paused()));
        });
        return json;
    }

    public static ObjectNode message(StoredMessage message, boolean open) {
        MessageSummary summary = new MessageSummary(message.queue(), message.id(), message.state(), message.dueAt(),
                message.leasedUntil(), message.expiresAt(), message.priority(), message.group(), message.failures(),
                message.lapses());
        return content(summary(summary), message.payload(), message.headers(), open);
    }

    public static ObjectNode summary(MessageSummary message) {
        return object().put("queue", message.queue())
            .put("id", message.id())
            .put("state", message.state().name())
            .put("dueAt", time(message.dueAt()))
            .put("leasedUntil", time(message.leasedUntil()))
            .put("expiresAt", time(message.expiresAt()))
            .put("priority", message.priority())
            .put("group", message.group())
            .put("failures", message.failures())
            .put("lapses", message.lapses());
    }

    public static ObjectNode deadLetter(DeadLetter deadLetter, boolean open) {
        String first = deadLetter.firstFailure();
        ObjectNode json = object().put("queue", deadLetter.queue())
            .put("deadLetterId", deadLetter.id())
            .put("id", deadLetter.messageId())
            .put("group", deadLetter.group())
            .put("dueAt", time(deadLetter.dueAt()))
            .put("deadLetteredAt", time(deadLetter.deadLetteredAt()))
            .put("failures", deadLetter.failures())
            .put("lapses", deadLetter.lapses())
            .put("cause", open ? deadLetter.cause() : CauseMasking.masked(deadLetter.cause()))
            .put("firstFailure", (open || first == null) ? first : CauseMasking.masked(first));
        return content(json, deadLetter.payload(), deadLetter.headers(), open);
    }

    private static ObjectNode content(ObjectNode json, @Nullable String payload, Map<String, String> headers,
            boolean open) {
        json.put("masked", !open);
        if (open) {
            json.set("payload", (payload != null && Json.isReadable(payload)) ? Json.raw(payload) : null);
            json.set("headers", headers(headers));
        }
        return json;
    }

    public static ObjectNode headers(Map<String, String> headers) {
        ObjectNode json = object();
        headers.forEach(json::put);
        return json;
    }

    public static @Nullable String time(@Nullable Instant time) {
        return (time != null) ? time.toString() : null;
    }

}

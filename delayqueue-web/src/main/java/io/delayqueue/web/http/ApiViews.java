package io.delayqueue.web.http;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;

import io.delayqueue.CauseMasking;
import io.delayqueue.DeadLetter;
import io.delayqueue.FailureReasons;
import io.delayqueue.MessageSummary;
import io.delayqueue.SendResult;
import io.delayqueue.StoredMessage;
import io.delayqueue.admin.DeadLetterCauses;
import io.delayqueue.admin.DeadLetterSummary;
import io.delayqueue.admin.DueForecast;
import io.delayqueue.admin.DueHistogram;
import io.delayqueue.admin.QueueOverview;
import io.delayqueue.admin.QueueOverviews;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Converts queues, messages and dead letters to their JSON in the API. Absent values are
 * {@code null}, so that every field is present. For callers without
 * {@code DELAYQUEUE_PAYLOAD}, payload and headers are left out, and causes are masked.
 */
public final class ApiViews {

    private static final int MAX_DETAIL = 500;

    private ApiViews() {
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

    public static ObjectNode message(StoredMessage message, boolean unmasked) {
        MessageSummary summary = new MessageSummary(message.queue(), message.id(), message.state(), message.dueAt(),
                message.leasedUntil(), message.expiresAt(), message.priority(), message.group(), message.failures(),
                message.lapses(), message.failureReasons());
        return content(summary(summary, unmasked), message.payload(), message.headers(), unmasked);
    }

    public static ObjectNode summary(MessageSummary message, boolean unmasked) {
        FailureReasons reasons = message.failureReasons();
        return object().put("queue", message.queue())
            .put("id", message.id())
            .put("state", message.state().name())
            .put("dueAt", time(message.dueAt()))
            .put("leasedUntil", time(message.leasedUntil()))
            .put("expiresAt", time(message.expiresAt()))
            .put("priority", message.priority())
            .put("group", message.group())
            .put("failures", message.failures())
            .put("lapses", message.lapses())
            .put("firstFailure", (reasons != null) ? cause(reasons.first(), unmasked) : null)
            .put("lastFailure", (reasons != null) ? cause(reasons.last(), unmasked) : null)
            .put("lastFailedAt", (reasons != null) ? time(reasons.lastAt()) : null);
    }

    private static @Nullable String cause(@Nullable String cause, boolean unmasked) {
        return (unmasked || cause == null) ? cause : CauseMasking.masked(cause);
    }

    public static ObjectNode deadLetterSummary(DeadLetterSummary deadLetter) {
        return object().put("queue", deadLetter.queue())
            .put("deadLetterId", deadLetter.id())
            .put("id", deadLetter.messageId())
            .put("deadLetteredAt", time(deadLetter.deadLetteredAt()));
    }

    /** Groups without the texts of their causes if the groups are those of types. */
    public static ObjectNode causes(DeadLetterCauses causes, boolean unmasked) {
        ObjectNode json = object().put("queue", causes.queue())
            .put("examined", causes.examined())
            .put("complete", causes.complete())
            .put("masked", !unmasked);
        ArrayNode array = json.putArray("causes");
        causes.causes()
            .forEach((one) -> array.add(object().put("causeGroup", one.group().key())
                .put("text", one.group().text())
                .put("count", one.count())
                .put("firstAt", time(one.firstAt()))
                .put("lastAt", time(one.lastAt()))
                .put("sampleDeadLetterId", one.sampleId())));
        return json;
    }

    public static ObjectNode dueHistogram(DueHistogram histogram) {
        ObjectNode json = object().put("queue", histogram.queue())
            .put("now", time(histogram.now()))
            .put("overdue", histogram.overdue());
        bins(json.putArray("minutes"), histogram.minutes());
        bins(json.putArray("hours"), histogram.hours());
        bins(json.putArray("days"), histogram.days());
        return json.put("later", histogram.later()).put("waitingInGroup", histogram.waitingInGroup());
    }

    private static void bins(ArrayNode array, List<DueHistogram.Bin> bins) {
        bins.forEach((bin) -> array
            .add(object().put("from", time(bin.from())).put("until", time(bin.until())).put("count", bin.count())));
    }

    public static ObjectNode deadLetter(DeadLetter deadLetter, boolean unmasked) {
        ObjectNode json = object().put("queue", deadLetter.queue())
            .put("deadLetterId", deadLetter.id())
            .put("id", deadLetter.messageId())
            .put("group", deadLetter.group())
            .put("dueAt", time(deadLetter.dueAt()))
            .put("deadLetteredAt", time(deadLetter.deadLetteredAt()))
            .put("failures", deadLetter.failures())
            .put("lapses", deadLetter.lapses())
            .put("cause", cause(deadLetter.cause(), unmasked))
            .put("firstFailure", cause(deadLetter.firstFailure(), unmasked));
        return content(json, deadLetter.payload(), deadLetter.headers(), unmasked);
    }

    private static ObjectNode content(ObjectNode json, @Nullable String payload, Map<String, String> headers,
            boolean unmasked) {
        json.put("masked", !unmasked);
        if (unmasked) {
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

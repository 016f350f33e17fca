package io.delayqueue.web.api;

import java.time.Duration;
import java.util.List;

import io.delayqueue.ScheduleDefinition;
import io.delayqueue.ScheduleStatus;
import io.delayqueue.UnreadableSchedule;
import io.delayqueue.web.http.ApiViews;
import io.delayqueue.web.http.Json;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Converts schedules to their JSON in the API. Payloads are parts of their own. */
public final class ScheduleViews {

    private ScheduleViews() {
    }

    /** Returns a schedule without its payload. */
    public static ObjectNode schedule(ScheduleStatus schedule) {
        ScheduleDefinition definition = schedule.definition();
        ObjectNode json = ApiViews.object()
            .put("name", schedule.name())
            .put("cron", definition.cron().orElse(null))
            .put("fixedRateMillis", definition.fixedRate().map(Duration::toMillis).orElse(null))
            .put("zone", definition.zone().getId())
            .put("misfire", definition.misfire().name())
            .put("catchUpLimit", definition.catchUpLimit())
            .put("overlap", definition.overlap().name())
            .put("timeToLiveMillis", definition.timeToLive().map(Duration::toMillis).orElse(null))
            .put("jitterMillis", definition.jitter().toMillis())
            .put("priority", definition.priority())
            .put("owner", schedule.owner())
            .put("paused", schedule.paused())
            .put("nextAt", ApiViews.time(schedule.nextAt()))
            .put("lastAt", ApiViews.time(schedule.lastAt()))
            .put("sent", schedule.sent());
        ObjectNode skipped = json.putObject("skipped");
        schedule.skipped().forEach((reason, count) -> skipped.put(reason.name(), count));
        ArrayNode skips = json.putArray("skips");
        schedule.skips()
            .forEach((skip) -> skips.add(ApiViews.object()
                .put("reason", skip.reason().name())
                .put("first", ApiViews.time(skip.first()))
                .put("last", ApiViews.time(skip.last()))
                .put("count", skip.count())));
        return json;
    }

    /** Adds the schedules that are not readable to those of a page. */
    public static ObjectNode withUnreadable(ObjectNode json, List<UnreadableSchedule> unreadable) {
        ArrayNode array = json.putArray("unreadable");
        unreadable.forEach((one) -> array
            .add(ApiViews.object().put("name", one.name()).put("owner", one.owner()).put("reason", one.reason())));
        return json;
    }

    /**
     * Adds the payload.
     * @param unmasked whether the caller may read it
     */
    public static ObjectNode withPayload(ObjectNode json, ScheduleStatus schedule, boolean unmasked) {
        boolean shown = unmasked && Json.isReadable(schedule.payload());
        json.put("masked", !unmasked);
        json.set("payload", shown ? Json.raw(schedule.payload()) : null);
        return json;
    }

    /**
     * Returns the next nominal times.
     * @param count at least 1
     */
    public static JsonNode following(ScheduleStatus schedule, int count) {
        ArrayNode following = JsonNodeFactory.instance.arrayNode();
        if (schedule.nextAt() != null) {
            following.add(ApiViews.time(schedule.nextAt()));
            schedule.definition()
                .preview(schedule.nextAt(), count - 1)
                .forEach((time) -> following.add(ApiViews.time(time)));
        }
        return following;
    }

}

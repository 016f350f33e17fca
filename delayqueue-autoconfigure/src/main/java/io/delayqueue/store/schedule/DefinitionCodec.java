package io.delayqueue.store.schedule;

import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.LinkedHashMap;
import java.util.Map;

import io.delayqueue.MessageLimits;
import io.delayqueue.MisfirePolicy;
import io.delayqueue.OverlapPolicy;
import io.delayqueue.ScheduleDefinition;
import io.delayqueue.store.envelope.EnvelopeCodec;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.MissingNode;
import tools.jackson.databind.util.RawValue;

/**
 * Writes definitions of schedules in their stored form and reads them back: a JSON object
 * without line breaks, with the settings that are not the defaults, then a line break and
 * the payload as JSON. Unknown settings are skipped, so that a later version may add
 * some. Thread-safe.
 */
public final class DefinitionCodec {

    /** Of its own, as the form must not depend on the application's mapper. */
    private static final JsonMapper JSON = JsonMapper.builder().build();

    private static final String CRON = "cron";

    private static final String FIXED_RATE = "fixedRate";

    private static final String ZONE = "zone";

    private static final String MISFIRE = "misfire";

    private static final String CATCH_UP_LIMIT = "catchUpLimit";

    private static final String OVERLAP = "overlap";

    private static final String TIME_TO_LIVE = "timeToLive";

    private static final String JITTER = "jitter";

    private static final String PRIORITY = "priority";

    private final EnvelopeCodec envelopes;

    /**
     * Creates a codec.
     * @param envelopes writes payloads and occurrences
     */
    public DefinitionCodec(EnvelopeCodec envelopes) {
        this.envelopes = envelopes;
    }

    /**
     * Writes a definition. Equal definitions have the same form.
     * @param payload its payload, as JSON
     */
    public String write(ScheduleDefinition definition, String payload) {
        ScheduleDefinition defaults = ScheduleDefinition.cron(definition.name(), "-").build();
        Map<String, Object> settings = new LinkedHashMap<>();
        definition.cron().ifPresent((cron) -> settings.put(CRON, cron));
        definition.fixedRate().ifPresent((rate) -> settings.put(FIXED_RATE, rate.toMillis()));
        put(settings, ZONE, definition.zone().getId(), defaults.zone().getId());
        put(settings, MISFIRE, definition.misfire().name(), defaults.misfire().name());
        put(settings, CATCH_UP_LIMIT, definition.catchUpLimit(), defaults.catchUpLimit());
        put(settings, OVERLAP, definition.overlap().name(), defaults.overlap().name());
        definition.timeToLive().ifPresent((time) -> settings.put(TIME_TO_LIVE, time.toString()));
        put(settings, JITTER, definition.jitter().toString(), defaults.jitter().toString());
        put(settings, PRIORITY, definition.priority(), defaults.priority());
        return JSON.writeValueAsString(settings) + "\n" + payload;
    }

    private static void put(Map<String, Object> settings, String name, Object value, Object usual) {
        if (!value.equals(usual)) {
            settings.put(name, value);
        }
    }

    /**
     * Reads a definition, with the payload as lists, maps and simple values.
     * @throws IllegalArgumentException if it is not readable
     */
    public ScheduleDefinition read(String name, String stored) {
        return builder(name, stored)
            .payload(this.envelopes.readPayload(payload(stored).getBytes(StandardCharsets.UTF_8), Object.class))
            .build();
    }

    /**
     * Reads the times and policies of a definition, without its payload.
     * @throws IllegalArgumentException if it is not readable
     */
    ScheduleDefinition readSettings(String name, String stored) {
        return builder(name, stored).build();
    }

    private static ScheduleDefinition.Builder builder(String name, String stored) {
        JsonNode settings = settings(stored);
        JsonNode rate = settings.path(FIXED_RATE);
        try {
            ScheduleDefinition.Builder builder = rate.isNumber()
                    ? ScheduleDefinition.fixedRate(name, Duration.ofMillis(rate.longValue()))
                    : ScheduleDefinition.cron(name, settings.path(CRON).asString(""));
            JsonNode time = settings.path(TIME_TO_LIVE);
            if (!time.isMissingNode()) {
                builder.timeToLive(Duration.parse(time.asString("")));
            }
            return builder.zone(ZoneId.of(settings.path(ZONE).asString(ZoneOffset.UTC.getId())))
                .misfire(MisfirePolicy.valueOf(settings.path(MISFIRE).asString(MisfirePolicy.ONCE.name())))
                .catchUpLimit(settings.path(CATCH_UP_LIMIT).asInt(100))
                .overlap(OverlapPolicy.valueOf(settings.path(OVERLAP).asString(OverlapPolicy.ALLOW.name())))
                .jitter(Duration.parse(settings.path(JITTER).asString("PT0S")))
                .priority(settings.path(PRIORITY).asInt(MessageLimits.NORMAL_PRIORITY));
        }
        catch (DateTimeException | JacksonException ex) {
            throw new IllegalArgumentException("The stored definition of schedule '%s' is not readable: %s"
                .formatted(name, ex.getClass().getSimpleName()));
        }
    }

    private static JsonNode settings(String stored) {
        int end = stored.indexOf('\n');
        try {
            return (end < 0) ? MissingNode.getInstance() : JSON.readTree(stored.substring(0, end));
        }
        catch (JacksonException ex) {
            return MissingNode.getInstance();
        }
    }

    /** Returns the payload of a stored definition, as JSON. */
    public static String payload(String stored) {
        return stored.substring(stored.indexOf('\n') + 1);
    }

    /** Checks a payload in a declaration. */
    static String requireJson(String payload) {
        try {
            if (JSON.readTree(payload).isNull()) {
                throw new IllegalArgumentException("payload must be JSON other than null");
            }
            return payload;
        }
        catch (JacksonException ex) {
            throw new IllegalArgumentException("payload must be JSON, such as {\"customer\":42}, but was %s at %s"
                .formatted(ex.getClass().getSimpleName(), ex.getLocation()), ex);
        }
    }

    /** Returns the stored form of a message whose payload is JSON already. */
    byte[] envelope(String payload, Map<String, String> headers) {
        return this.envelopes.write(new RawValue(payload), headers);
    }

    /** Returns a payload as JSON. */
    public String json(byte[] envelope) {
        return EnvelopeCodec.text(this.envelopes.read(envelope));
    }

}

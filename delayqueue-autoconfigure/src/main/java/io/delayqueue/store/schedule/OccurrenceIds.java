package io.delayqueue.store.schedule;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.delayqueue.DelayQueueHeaders;
import io.delayqueue.MessageLimits;
import io.delayqueue.ScheduledOccurrence;
import org.jspecify.annotations.Nullable;

/**
 * Names the messages of schedules: the id has the schedule and the nominal time, stored
 * headers have the occurrences before and after it.
 */
public final class OccurrenceIds {

    private static final String PREVIOUS = DelayQueueHeaders.PREFIX + "previous";

    private static final String NEXT = DelayQueueHeaders.PREFIX + "next";

    private static final String TRIGGERED = "-triggered";

    private static final Pattern ID = Pattern
        .compile(MessageLimits.RESERVED_PREFIX + "([^@]{1,100})@(\\d{1,15})(?:" + TRIGGERED + ")?");

    private OccurrenceIds() {
    }

    /** Returns the id of the occurrence of a nominal time, ms. */
    public static String id(String schedule, long nominal) {
        return ScheduledOccurrence.messageId(schedule, Instant.ofEpochMilli(nominal));
    }

    /** Returns the id of an occurrence that a call has triggered. */
    static String triggeredId(String schedule, long nominal) {
        return id(schedule, nominal) + TRIGGERED;
    }

    /** Returns the group of the occurrences of a schedule that are handled in order. */
    static String group(String schedule) {
        return MessageLimits.RESERVED_PREFIX + schedule;
    }

    /** Returns the headers of an occurrence. */
    static Map<String, String> headers(long previous, long next) {
        Map<String, String> headers = new LinkedHashMap<>();
        put(headers, PREVIOUS, previous);
        put(headers, NEXT, next);
        return headers;
    }

    private static void put(Map<String, String> headers, String name, long millis) {
        if (millis != ScheduleState.NONE) {
            headers.put(name, Long.toString(millis));
        }
    }

    /**
     * Returns the occurrence that a message is; {@code null} if no schedule has sent it.
     * @param headers its stored headers
     */
    public static @Nullable ScheduledOccurrence of(String id, Map<String, String> headers) {
        Matcher parts = ID.matcher(id);
        return parts.matches()
                ? new ScheduledOccurrence(parts.group(1), Instant.ofEpochMilli(Long.parseLong(parts.group(2))),
                        instant(headers.get(PREVIOUS)), instant(headers.get(NEXT)))
                : null;
    }

    private static @Nullable Instant instant(@Nullable String millis) {
        return (millis != null && millis.matches("\\d{1,15}")) ? Instant.ofEpochMilli(Long.parseLong(millis)) : null;
    }

}

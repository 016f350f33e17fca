package io.delayqueue.redis.script;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import io.delayqueue.ScheduleSkip;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.schedule.ScheduleChange;
import io.delayqueue.store.schedule.ScheduleState;
import io.delayqueue.store.schedule.ScheduleState.Position;
import io.delayqueue.store.schedule.ScheduleStep;
import io.delayqueue.store.schedule.ScheduleStep.Occurrence;
import org.jspecify.annotations.Nullable;

import static io.delayqueue.redis.script.ScriptCodec.bytes;

/**
 * Builds the arguments of the scripts of schedules, as the headers of the scripts define
 * them.
 */
public final class ScheduleArguments {

    private static final int HEADER = 2;

    private static final int FIELDS = 20;

    private static final byte[] NONE = new byte[0];

    private static final String POSTPONE = "-";

    private static final String WITHOUT_ROW = "-";

    private ScheduleArguments() {
    }

    /** Returns the arguments of fire-schedules.lua. */
    public static byte[][] ofFire(@Nullable String node, int limit, List<ScheduleStep> steps) {
        byte[][] arguments = new byte[HEADER + steps.size() * FIELDS][];
        arguments[0] = (node != null) ? bytes(node) : NONE;
        arguments[1] = bytes(limit);
        int at = HEADER;
        for (ScheduleStep step : steps) {
            Position to = step.to();
            byte[][] fields = concat(
                    new byte[][] { bytes(step.name()), generation(step.generation()), bytes(step.next()),
                            bytes(step.last()), bytes(to.next()), bytes(to.tail()), bytes(to.ahead()) },
                    step.isPostponement() ? new byte[][] { bytes(POSTPONE), NONE, bytes(0) } : skip(step.skip()),
                    occurrence(step.occurrence()));
            System.arraycopy(fields, 0, arguments, at, FIELDS);
            at += FIELDS;
        }
        return arguments;
    }

    private static byte[] generation(long generation) {
        return (generation != ScheduleState.NONE) ? bytes(generation) : NONE;
    }

    private static byte[][] skip(@Nullable ScheduleSkip skip) {
        return (skip == null) ? new byte[][] { NONE, NONE, bytes(0) }
                : new byte[][] { bytes(skip.reason().name()), millis(skip.last()), bytes(skip.count()) };
    }

    private static byte[][] occurrence(@Nullable Occurrence occurrence) {
        if (occurrence == null) {
            return new byte[][] { NONE, NONE, bytes(0), bytes(0), bytes(0), NONE, NONE, NONE, NONE, NONE };
        }
        NewMessage message = occurrence.message();
        return new byte[][] { bytes(message.id()), ScriptArguments.stamped(message), bytes(message.due().millis()),
                bytes((message.timeToLive() != null) ? DueTime.ceilToMillis(message.timeToLive()) : 0),
                bytes(message.priority()), (message.group() != null) ? bytes(message.group()) : NONE,
                (occurrence.validUntil() != null) ? bytes(occurrence.validUntil()) : NONE,
                (occurrence.lastId() != null) ? bytes(occurrence.lastId()) : NONE,
                (occurrence.backlogId() != null) ? bytes(occurrence.backlogId()) : NONE, bytes(voids(occurrence)) };
    }

    private static String voids(Occurrence occurrence) {
        return occurrence.rowless() ? WITHOUT_ROW
                : occurrence.voids().stream().map(String::valueOf).collect(Collectors.joining(" "));
    }

    /** Returns the arguments of change-schedule.lua. */
    public static byte[][] ofChange(ScheduleChange change) {
        ScheduleState expected = change.expected();
        ScheduleState state = change.state();
        ScheduleSkip skip = change.skip();
        return concat(
                new byte[][] { bytes(change.name()), (expected != null) ? generation(expected.generation()) : NONE,
                        bytes((expected != null) ? expected.next() : 0),
                        bytes((expected != null) ? expected.last() : 0), (state != null) ? bytes(state.text()) : NONE,
                        bytes((state != null) ? state.next() : 0),
                        (change.node() != null) ? bytes(change.node()) : NONE },
                (skip == null) ? new byte[][] { NONE, NONE, NONE, bytes(0) } : new byte[][] {
                        bytes(skip.reason().name()), millis(skip.first()), millis(skip.last()), bytes(skip.count()) });
    }

    /** Returns the arguments of declare-schedules.lua. */
    public static byte[][] ofDeclarations(String owner, boolean removes, Map<String, String> fingerprints) {
        List<byte[]> arguments = new ArrayList<>(List.of(bytes(owner), bytes(removes ? 1 : 0)));
        fingerprints.forEach((name, fingerprint) -> arguments.addAll(List.of(bytes(name), bytes(fingerprint))));
        return arguments.toArray(byte[][]::new);
    }

    private static byte[] millis(Instant time) {
        return bytes(time.toEpochMilli());
    }

    private static byte[][] concat(byte[][]... parts) {
        int length = 0;
        for (byte[][] part : parts) {
            length += part.length;
        }
        byte[][] all = new byte[length][];
        int at = 0;
        for (byte[][] part : parts) {
            System.arraycopy(part, 0, all, at, part.length);
            at += part.length;
        }
        return all;
    }

}

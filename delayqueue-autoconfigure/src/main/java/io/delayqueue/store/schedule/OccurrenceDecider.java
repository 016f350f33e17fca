package io.delayqueue.store.schedule;

import java.time.Duration;
import java.time.Instant;
import java.util.function.DoubleSupplier;

import io.delayqueue.MisfirePolicy;
import io.delayqueue.OnDuplicate;
import io.delayqueue.OverlapPolicy;
import io.delayqueue.ScheduleDefinition;
import io.delayqueue.ScheduleSkip;
import io.delayqueue.SkipReason;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.schedule.ScheduleState.Position;
import io.delayqueue.store.schedule.ScheduleStep.Occurrence;
import org.jspecify.annotations.Nullable;

import static io.delayqueue.store.schedule.ScheduleState.NONE;

/**
 * Decides about the due occurrences of one schedule at one moment, in their order. Times
 * are in milliseconds since the epoch. Not thread-safe.
 */
final class OccurrenceDecider {

    /** Maximum number of occurrences that one step passes. */
    static final int MAX_PASSED = 1_000;

    private final String name;

    private final ScheduleDefinition definition;

    private final DefinitionCodec codec;

    private final String payload;

    private final boolean paused;

    private final long threshold;

    private final long now;

    /** The time from which on {@link #lead} was computed last. */
    private long leadOf = NONE;

    private long lead = NONE;

    private int computed;

    private final DoubleSupplier random;

    /** The occurrence whose jitter was drawn last. */
    private long jitterOf = NONE;

    private long jitter;

    /**
     * Creates the plan.
     * @param random returns numbers from 0 to 1; 0.5 for no jitter
     * @throws IllegalArgumentException if the definition is not readable
     */
    OccurrenceDecider(String name, ScheduleState state, DefinitionCodec codec, long threshold, Instant now,
            DoubleSupplier random) {
        this.name = name;
        this.definition = codec.readSettings(name, state.definition());
        this.codec = codec;
        this.payload = DefinitionCodec.payload(state.definition());
        this.paused = state.paused();
        this.threshold = threshold;
        this.now = now.toEpochMilli();
        this.random = random;
    }

    /** Returns how many times it has computed. */
    int computed() {
        return this.computed;
    }

    /** Returns whether a nominal time exists and has come. */
    boolean isDue(long nominal) {
        return nominal != NONE && nominal <= this.now;
    }

    /**
     * Returns the step that passes the next occurrence, and those after it that are
     * skipped for the same reason.
     * @param from the state, whose next occurrence is due
     * @param most maximum number of occurrences that are skipped
     */
    ScheduleStep step(ScheduleState from, int most) {
        SkipReason reason = reasonToSkip(from.next());
        return (reason != null) ? skip(from, reason, most) : send(from);
    }

    private @Nullable SkipReason reasonToSkip(long nominal) {
        if (this.paused) {
            return SkipReason.PAUSED;
        }
        if (isMissed(nominal)) {
            MisfirePolicy policy = this.definition.misfire();
            if (policy == MisfirePolicy.SKIP || (policy == MisfirePolicy.ONCE && isDue(after(nominal)))) {
                return SkipReason.MISFIRE;
            }
            if (policy == MisfirePolicy.ALL && isDue(lead(nominal))) {
                return SkipReason.CATCH_UP_LIMIT;
            }
        }
        return (this.now >= expiry(nominal)) ? SkipReason.EXPIRED : null;
    }

    private boolean isMissed(long nominal) {
        return this.now - nominal > this.threshold;
    }

    private long expiry(long nominal) {
        return this.definition.timeToLive()
            .map((time) -> nominal + jitter(nominal) + DueTime.ceilToMillis(time))
            .orElse(Long.MAX_VALUE);
    }

    /** Returns by how much an occurrence is delayed, at random once. */
    private long jitter(long nominal) {
        if (this.jitterOf != nominal) {
            double share = Math.abs(2 * this.random.getAsDouble() - 1);
            this.jitter = (long) (this.definition.jitter().toMillis() * share);
            this.jitterOf = nominal;
        }
        return this.jitter;
    }

    /** Returns the time that follows {@code catchUpLimit} later. */
    private long lead(long nominal) {
        if (this.leadOf != nominal) {
            boolean follows = this.leadOf != NONE && after(this.leadOf) == nominal;
            this.lead = follows ? after(this.lead) : after(nominal, this.definition.catchUpLimit());
            this.leadOf = nominal;
        }
        return this.lead;
    }

    private long after(long nominal, int count) {
        long time = nominal;
        for (int i = 0; i < count && time != NONE; i++) {
            time = after(time);
        }
        return time;
    }

    private long after(long nominal) {
        this.computed++;
        return (nominal == NONE) ? NONE
                : this.definition.nextAfter(Instant.ofEpochMilli(nominal)).map(Instant::toEpochMilli).orElse(NONE);
    }

    private ScheduleStep skip(ScheduleState from, SkipReason reason, int most) {
        Position to = from.position();
        long last;
        int count = 0;
        do {
            last = to.next();
            to = advanced(to);
            count++;
        }
        while (count < most && isDue(to.next()) && reasonToSkip(to.next()) == reason);
        return ScheduleStep.skip(this.name, from, to,
                new ScheduleSkip(reason, Instant.ofEpochMilli(from.next()), Instant.ofEpochMilli(last), count));
    }

    private ScheduleStep send(ScheduleState from) {
        Position to = isBacklogged(from.position()) ? new Position(after(from.next()), from.next(), 1).ended()
                : advanced(from.position());
        String lastId = (this.definition.overlap() == OverlapPolicy.SKIP && from.last() != NONE)
                ? OccurrenceIds.id(this.name, from.last()) : null;
        String backlogId = (from.ahead() >= this.definition.catchUpLimit()) ? OccurrenceIds.id(this.name, from.tail())
                : null;
        return ScheduleStep.send(this.name, from, to,
                new Occurrence(message(from, to.next()), validUntil(from.next()), lastId, backlogId));
    }

    private NewMessage message(ScheduleState from, long next) {
        long nominal = from.next();
        byte[] envelope = this.codec.envelope(this.payload, OccurrenceIds.headers(from.last(), next));
        return new NewMessage(OccurrenceIds.id(this.name, nominal), false,
                new DueTime(nominal + jitter(nominal), false), OnDuplicate.KEEP, this.definition.priority(),
                wholeMillis(this.definition),
                (this.definition.overlap() == OverlapPolicy.QUEUE) ? OccurrenceIds.group(this.name) : null, envelope);
    }

    static @Nullable Duration wholeMillis(ScheduleDefinition definition) {
        return definition.timeToLive().map((time) -> Duration.ofMillis(DueTime.ceilToMillis(time))).orElse(null);
    }

    /**
     * Returns the last time at which this decision to send is the right one; {@code null}
     * if it always is.
     */
    private @Nullable Long validUntil(long nominal) {
        long until;
        if (!isMissed(nominal)) {
            until = nominal + this.threshold;
        }
        else {
            long later = switch (this.definition.misfire()) {
                case ONCE -> after(nominal);
                case ALL -> lead(nominal);
                case SKIP -> throw new IllegalStateException("A missed occurrence is skipped");
            };
            until = (later != NONE) ? later - 1 : Long.MAX_VALUE;
        }
        until = Math.min(until, expiry(nominal) - 1);
        return (until == Long.MAX_VALUE - 1 || until == Long.MAX_VALUE) ? null : until;
    }

    /**
     * Returns whether occurrences after the tail were skipped as the queue held it, or
     * the limit was reduced. Then the tail stays until one is sent, with which another
     * count begins: an occurrence between them may never have been sent.
     */
    private boolean isBacklogged(Position position) {
        return position.ahead() > this.definition.catchUpLimit();
    }

    /** Returns the position of the following occurrence. */
    private Position advanced(Position from) {
        long next = after(from.next());
        if (isBacklogged(from) || from.ahead() < this.definition.catchUpLimit()) {
            return new Position(next, from.tail(), isBacklogged(from) ? from.ahead() : from.ahead() + 1).ended();
        }
        return new Position(next, after(from.tail()), from.ahead()).ended();
    }

}

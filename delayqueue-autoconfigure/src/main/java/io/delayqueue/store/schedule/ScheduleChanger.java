package io.delayqueue.store.schedule;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Function;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.OnDuplicate;
import io.delayqueue.OverlapPolicy;
import io.delayqueue.QueueName;
import io.delayqueue.ScheduleChangeResult;
import io.delayqueue.ScheduleDefinition;
import io.delayqueue.SchedulePutResult;
import io.delayqueue.ScheduleSkip;
import io.delayqueue.SkipReason;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.UnreadableScheduleException;
import io.delayqueue.store.schedule.ScheduleState.Position;
import io.delayqueue.store.schedule.StepPlanner.Problems;
import org.jspecify.annotations.Nullable;

import static io.delayqueue.store.schedule.ScheduleState.NONE;

/**
 * Adds, changes and removes schedules: reads the state, decides, and replaces the state
 * if it is still the same; otherwise reads again. Occurrences that are due by the state
 * before are decided first. Thread-safe.
 */
public final class ScheduleChanger {

    /** How long a declaration counts, as {@code KEPT} of declare-schedules.lua. */
    static final Duration DECLARED = Duration.ofHours(1);

    /**
     * Each repetition requires that another node was first, or 100 steps of a schedule
     * that was not fired for long.
     */
    private static final int MAX_REPEATS = 100;

    /** Maximum number of times of a cron expression that a loss counts. */
    static final int MAX_LOST = 10_000;

    private static final Executor ASYNC = new CompletableFuture<Void>().defaultExecutor();

    private final LocalSchedules schedules;

    private final OccurrenceEvents events;

    private final Executor executor;

    /**
     * Creates one for callers that wait for the result.
     * @param events receives the occurrences that changes decide about
     */
    public ScheduleChanger(LocalSchedules schedules, OccurrenceEvents events) {
        this(schedules, events, ASYNC);
    }

    /**
     * Creates one.
     * @param events receives the occurrences that changes decide about
     * @param executor computes times, which the thread of the store's connection must not
     */
    public ScheduleChanger(LocalSchedules schedules, OccurrenceEvents events, Executor executor) {
        this.schedules = schedules;
        this.events = events;
        this.executor = executor;
    }

    /**
     * Adds a schedule, or replaces its definition.
     * @param stored the definition as {@link DefinitionCodec} writes it
     */
    public CompletableFuture<SchedulePutResult> put(QueueName queue, ScheduleDefinition definition, String stored) {
        FirstRead first = new FirstRead();
        return change(queue, definition.name(), taking(), (found) -> {
            ScheduleState state = found.state();
            if (state == null) {
                return new Decision<>(SchedulePutResult.CREATED, created(definition, "", stored, found.now()));
            }
            if (isDeclared(found)) {
                throw new IllegalArgumentException(
                        "Schedule '%s' of queue '%s' is not valid: application '%s' declares a schedule of that name"
                            .formatted(definition.name(), queue, state.application()));
            }
            if (!state.isReadable()) {
                return new Decision<>(SchedulePutResult.REPLACED, created(definition, "", stored, found.now()));
            }
            if (state.definition().equals(stored) && state.owner().isEmpty()) {
                return new Decision<>(SchedulePutResult.UNCHANGED, null);
            }
            boolean due = first.hasDue(found);
            ScheduleState redefined = redefined(found, due, definition, "", stored);
            return (redefined != null) ? new Decision<>(SchedulePutResult.REPLACED, redefined, undecided(found), false)
                    : null;
        });
    }

    /**
     * Adds a schedule, unless there is one of that name.
     * @param stored the definition as {@link DefinitionCodec} writes it
     * @param from the first occurrence is the first time that is not before it, and after
     * the epoch
     */
    public CompletableFuture<Boolean> putIfAbsent(QueueName queue, ScheduleDefinition definition, String stored,
            Instant from) {
        // A time of 0 ms stands for none.
        Instant first = from.isAfter(Instant.EPOCH) ? from : Instant.EPOCH.plusMillis(1);
        return change(queue, definition.name(), taking(),
                (found) -> (found.state() != null) ? new Decision<>(false, null)
                        : new Decision<>(true, created(definition, "", stored, found.now(), first.minusNanos(1))));
    }

    /**
     * Stores a schedule that this application declares, if its declaration applies.
     * @param known the next time that it had, if it was stored before; otherwise
     * {@link ScheduleState#NONE}
     * @return the state; empty if a call has put a schedule of that name
     */
    CompletableFuture<Optional<ScheduleState>> declare(QueueName queue, ScheduleDeclaration declaration, long known) {
        ScheduleDefinition definition = declaration.definition();
        String owner = this.schedules.owner();
        FirstRead first = new FirstRead();
        return change(queue, definition.name(), taking(), (found) -> {
            ScheduleState state = found.state();
            if (state == null || !state.isReadable()) {
                ScheduleState created = created(definition, owner, declaration.stored(), found.now());
                return new Decision<>(Optional.of(created), created, lost(definition, known, found.now()), false);
            }
            if (state.owner().isEmpty()) {
                return new Decision<>(Optional.empty(), null);
            }
            if (state.definition().equals(declaration.stored()) && state.owner().equals(owner)) {
                return new Decision<>(Optional.of(state), null);
            }
            boolean due = first.hasDue(found);
            ScheduleState redefined = redefined(found, due, definition, owner, declaration.stored());
            return (redefined != null) ? new Decision<>(Optional.of(redefined), redefined, undecided(found), false)
                    : null;
        });
    }

    /** Counts the times since the last one that is known; some may have been sent. */
    private static @Nullable ScheduleSkip lost(ScheduleDefinition definition, long known, Instant now) {
        if (known == NONE || known > now.toEpochMilli()) {
            return null;
        }
        Instant first = Instant.ofEpochMilli(known);
        Duration rate = definition.fixedRate().orElse(null);
        if (rate != null) {
            long more = Duration.between(first, now).dividedBy(rate);
            return new ScheduleSkip(SkipReason.DATA_LOSS, first, first.plus(rate.multipliedBy(more)), more + 1);
        }
        Instant last = first;
        Instant time = definition.nextAfter(first).orElse(null);
        int count = 1;
        for (; time != null && !time.isAfter(now) && count < MAX_LOST; count++) {
            last = time;
            time = definition.nextAfter(time).orElse(null);
        }
        return new ScheduleSkip(SkipReason.DATA_LOSS, first, last, count);
    }

    /**
     * Returns the new state; {@code null} if an occurrence was due at the first read,
     * which the old definition decides about. The new one begins after the first read,
     * with the times about which nothing is decided.
     */
    private @Nullable ScheduleState redefined(ScheduleSnapshot found, boolean due, ScheduleDefinition definition,
            String owner, String stored) {
        ScheduleState state = Objects.requireNonNull(found.state());
        boolean undecidable = isUndecidable(found);
        boolean same = !undecidable && hasTimes(definition, state);
        if (!same && !undecidable && due) {
            return null;
        }
        boolean passed = !undecidable && isDue(found, found.now().toEpochMilli());
        // The last one may be ahead, as the store's clock was set back since it was sent.
        long now = Math.max(found.now().toEpochMilli(), state.last());
        Instant after = Instant.ofEpochMilli(passed ? state.next() - 1 : now);
        return state.redefined(same ? state.position() : beginning(definition, after), owner, stored);
    }

    /** Returns the occurrence that is due, if no node can decide about it. */
    private @Nullable ScheduleSkip undecided(ScheduleSnapshot found) {
        if (found.state() == null || !isUndecidable(found)) {
            return null;
        }
        Instant next = Instant.ofEpochMilli(found.state().next());
        return new ScheduleSkip(SkipReason.REDEFINED, next, next, 1);
    }

    private static ScheduleState created(ScheduleDefinition definition, String owner, String stored, Instant now) {
        return created(definition, owner, stored, now, now);
    }

    private static ScheduleState created(ScheduleDefinition definition, String owner, String stored, Instant now,
            Instant after) {
        Position at = beginning(definition, after);
        return new ScheduleState(now.toEpochMilli(), at.next(), NONE, at.tail(), at.ahead(), 0, false, owner, stored);
    }

    private static Position beginning(ScheduleDefinition definition, Instant after) {
        return Position.beginning(definition.nextAfter(after).map(Instant::toEpochMilli).orElse(NONE));
    }

    private boolean hasTimes(ScheduleDefinition definition, ScheduleState state) {
        try {
            return definition.hasTimesOf(this.schedules.codec().readSettings(definition.name(), state.definition()));
        }
        catch (IllegalArgumentException ex) {
            return false;
        }
    }

    private static boolean isDue(ScheduleSnapshot found, long at) {
        ScheduleState state = found.state();
        return state != null && state.next() != NONE && state.next() <= at;
    }

    /** Returns whether an occurrence is due of a definition that is not readable. */
    private boolean isUndecidable(ScheduleSnapshot found) {
        return isDue(found, found.now().toEpochMilli()) && plan(found).get(0).isPostponement();
    }

    private static boolean isDeclared(ScheduleSnapshot found) {
        return found.state() != null && !found.state().owner().isEmpty() && found.declaredAt() != null
                && found.declaredAt().plus(DECLARED).isAfter(found.now());
    }

    /** Pauses a schedule, or resumes it. */
    public CompletableFuture<ScheduleChangeResult> pause(QueueName queue, String name, boolean paused) {
        FirstRead first = new FirstRead();
        return change(queue, name, null, (found) -> {
            ScheduleState state = found.state();
            if (state == null) {
                return new Decision<>(ScheduleChangeResult.NOT_FOUND, null);
            }
            if (state.paused() == paused) {
                return new Decision<>(ScheduleChangeResult.UNCHANGED, null);
            }
            if (!state.isReadable()) {
                throw unreadable(queue, name);
            }
            return (first.hasDue(found) && !isUndecidable(found)) ? null
                    : new Decision<>(ScheduleChangeResult.DONE, state.paused(paused));
        });
    }

    /** Removes a schedule that no node has declared for an hour. */
    public CompletableFuture<ScheduleChangeResult> remove(QueueName queue, String name) {
        return change(queue, name, null,
                (found) -> (found.state() == null) ? new Decision<>(ScheduleChangeResult.NOT_FOUND, null)
                        : isDeclared(found) ? new Decision<>(ScheduleChangeResult.DECLARED, null)
                                : new Decision<>(ScheduleChangeResult.DONE, null, null, true));
    }

    /**
     * Returns the message of an occurrence that is due now, in addition to those of the
     * times; empty if there is no such schedule.
     * @param offset milliseconds that are added to its nominal time, as the queue holds
     * the message of another call
     */
    public CompletableFuture<Optional<NewMessage>> trigger(QueueName queue, String name, int offset) {
        return this.schedules.store().find(queue, name).thenApplyAsync((found) -> {
            ScheduleState state = found.state();
            if (state == null) {
                return Optional.empty();
            }
            DefinitionCodec codec = this.schedules.codec();
            ScheduleDefinition definition = requireReadable(queue, name, state);
            long now = found.now().toEpochMilli() + offset;
            byte[] envelope = codec.envelope(DefinitionCodec.payload(state.definition()),
                    OccurrenceIds.headers(state.last(), state.next()));
            return Optional.of(new NewMessage(OccurrenceIds.triggeredId(name, now), false, DueTime.NOW,
                    OnDuplicate.KEEP, definition.priority(), OccurrenceDecider.wholeMillis(definition),
                    (definition.overlap() == OverlapPolicy.QUEUE) ? OccurrenceIds.group(name) : null, envelope));
        }, this.executor);
    }

    /**
     * Returns the node that fires first after a put or a declaration: this process, which
     * takes part from then on. {@code null} if it fires nothing.
     */
    private @Nullable String taking() {
        return this.schedules.isFiring() ? this.schedules.node() : null;
    }

    private ScheduleDefinition requireReadable(QueueName queue, String name, ScheduleState state) {
        try {
            return this.schedules.codec().readSettings(name, state.definition());
        }
        catch (IllegalArgumentException ex) {
            throw unreadable(queue, name);
        }
    }

    private static UnreadableScheduleException unreadable(QueueName queue, String name) {
        return new UnreadableScheduleException(
                "Schedule '%s' of queue '%s' is not readable, nothing was changed; put it again, or remove it"
                    .formatted(name, queue),
                null);
    }

    private <T> CompletableFuture<T> change(QueueName queue, String name, @Nullable String node,
            Function<ScheduleSnapshot, @Nullable Decision<T>> decision) {
        return new Attempts<>(queue, name, node, decision).start();
    }

    /**
     * Fires what is due, as a change of the schedule would decide otherwise about it. The
     * firing node stays, as this process may not fire the queue.
     */
    private CompletableFuture<FireResult> fireFirst(QueueName queue, ScheduleSnapshot found) {
        List<ScheduleStep> steps = plan(found);
        return this.schedules.store().fire(queue, null, steps).thenCompose((firing) -> {
            this.events.record(queue, steps, firing.outcomes());
            return firing.outcomes().contains(StepOutcome.UNRECORDED)
                    ? CompletableFuture
                        .failedFuture(new StoreRefusedException(withoutJournal(queue), Effect.NONE, null))
                    : CompletableFuture.completedFuture(firing);
        });
    }

    /** Returns the error for a process without the journal of a ledger. */
    public static String withoutJournal(QueueName queue) {
        return ("The schedules of queue '%s' are not fired by this application, as the queue is a ledger and it has no "
                + "journal for it. Set its delayqueue.journal.mode to 'ledger'")
            .formatted(queue);
    }

    private List<ScheduleStep> plan(ScheduleSnapshot found) {
        Map<String, ScheduleState> due = (found.state() != null) ? Map.of(found.name(), found.state()) : Map.of();
        return this.schedules.planner().plan(due, found.now(), () -> 0.5, Problems.IGNORED);
    }

    /**
     * Makes one change, by several attempts if the schedule changes meanwhile. A caller
     * that no longer waits cancels the result; no further attempt is made then, as it
     * would undo a later change. The attempts follow one another.
     */
    private final class Attempts<T> {

        private final QueueName queue;

        private final String name;

        private final @Nullable String node;

        private final Function<ScheduleSnapshot, @Nullable Decision<T>> decision;

        private final CompletableFuture<T> result = new CompletableFuture<>();

        private int left = MAX_REPEATS;

        /** The last attempt to change the schedule, which the store has not confirmed. */
        private @Nullable Decision<T> unconfirmed;

        Attempts(QueueName queue, String name, @Nullable String node,
                Function<ScheduleSnapshot, @Nullable Decision<T>> decision) {
            this.queue = queue;
            this.name = name;
            this.node = node;
            this.decision = decision;
        }

        CompletableFuture<T> start() {
            next().whenComplete((value, ex) -> {
                if (ex != null) {
                    this.result.completeExceptionally(ex);
                }
                else {
                    this.result.complete(value);
                }
            });
            return this.result;
        }

        private CompletableFuture<T> next() {
            if (this.result.isDone()) {
                return this.result; // The caller waits no longer.
            }
            if (this.left-- == 0) {
                return CompletableFuture.failedFuture(new StoreRefusedException(
                        "Schedule '%s' of queue '%s' was not changed, as it changes all the time; repeat the call"
                            .formatted(this.name, this.queue),
                        Effect.NONE, null));
            }
            return ScheduleChanger.this.schedules.store()
                .find(this.queue, this.name)
                .thenComposeAsync(this::decide, ScheduleChanger.this.executor);
        }

        private CompletableFuture<T> decide(ScheduleSnapshot found) {
            if (this.result.isDone()) {
                return this.result;
            }
            if (this.unconfirmed != null && this.unconfirmed.isMade(found.state())) {
                return CompletableFuture.completedFuture(this.unconfirmed.result);
            }
            Decision<T> decided = this.decision.apply(found);
            if (decided == null) {
                return fireFirst(this.queue, found).thenCompose((fired) -> next());
            }
            if (decided.state == null && !decided.removes) {
                return CompletableFuture.completedFuture(decided.result);
            }
            this.unconfirmed = decided;
            return ScheduleChanger.this.schedules.store()
                .change(this.queue,
                        new ScheduleChange(this.name, found.state(), decided.state, decided.skip, this.node))
                .thenCompose((changed) -> changed ? made(decided) : next());
        }

        private CompletableFuture<T> made(Decision<T> decided) {
            if (decided.skip != null) {
                ScheduleChanger.this.events.skipped(this.queue, decided.skip);
            }
            return CompletableFuture.completedFuture(decided.result);
        }

    }

    /**
     * Holds the time of a call's first read. Occurrences that were due then are decided
     * before the change, and those that become due meanwhile are not, so that a schedule
     * can be changed whose firing takes longer than its rate. Not thread-safe.
     */
    private static final class FirstRead {

        private long time = NONE;

        /** Returns whether an occurrence is due that was due at the first read. */
        boolean hasDue(ScheduleSnapshot found) {
            if (this.time == NONE) {
                this.time = found.now().toEpochMilli();
            }
            return isDue(found, this.time);
        }

    }

    /**
     * Holds a decision.
     *
     * @param state the new state; {@code null} for no change, or to remove the schedule
     * @param skip occurrences to count as skipped
     */
    private record Decision<T>(T result, @Nullable ScheduleState state, @Nullable ScheduleSkip skip, boolean removes) {

        Decision(T result, @Nullable ScheduleState state) {
            this(result, state, null, false);
        }

        /**
         * Returns whether a schedule is as this decision changes it. If the store has not
         * confirmed the change, it has made it all the same: the reply was lost, and the
         * client has repeated the call. Or another node has made the same change.
         */
        boolean isMade(@Nullable ScheduleState found) {
            return found != null && this.state != null && found.generation() == this.state.generation()
                    && found.paused() == this.state.paused() && found.owner().equals(this.state.owner())
                    && found.definition().equals(this.state.definition());
        }

    }

}

package io.delayqueue.memory;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Objects;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

import io.delayqueue.QueueName;
import io.delayqueue.ScheduleSkip;
import io.delayqueue.SkipReason;
import io.delayqueue.store.Partition;
import io.delayqueue.store.WakeUpSignal;
import io.delayqueue.store.schedule.DeclarationResult;
import io.delayqueue.store.schedule.DeclarationResult.Standing;
import io.delayqueue.store.schedule.FireResult;
import io.delayqueue.store.schedule.ScheduleChange;
import io.delayqueue.store.schedule.ScheduleCursor;
import io.delayqueue.store.schedule.ScheduleState;
import io.delayqueue.store.schedule.ScheduleState.Position;
import io.delayqueue.store.schedule.ScheduleStep;
import io.delayqueue.store.schedule.ScheduleStep.Occurrence;
import io.delayqueue.store.schedule.ScheduleStore;
import io.delayqueue.store.schedule.SkipLog;
import io.delayqueue.store.schedule.StepOutcome;
import io.delayqueue.store.schedule.ScheduleSnapshot;
import io.delayqueue.store.schedule.ScheduleSnapshotPage;
import org.jspecify.annotations.Nullable;

/**
 * Stores schedules in this process.
 * <p>
 * <strong>Threads.</strong> Any. The schedules of a queue are read and changed under the
 * lock of its first partition, which holds their occurrences.
 */
final class MemoryScheduleStore implements ScheduleStore {

    /** When a schedule that a node could not read is tried again, ms. */
    private static final long RETRY_MILLIS = 60_000;

    private final Map<QueueName, Schedules> queues = new ConcurrentHashMap<>();

    /** When each application has declared schedules last. */
    private final Map<String, Instant> owners = new ConcurrentHashMap<>();

    private final InMemoryMessageStore store;

    private final MemoryWakeUps wakeUps;

    private final MemoryPartitionLayoutStore layouts;

    MemoryScheduleStore(InMemoryMessageStore store, MemoryWakeUps wakeUps, MemoryPartitionLayoutStore layouts) {
        this.store = store;
        this.layouts = layouts;
        this.wakeUps = wakeUps;
    }

    private <T> CompletableFuture<T> in(QueueName queue, Transition<T> transition) {
        return this.store.in(Partition.first(queue), (messages, now) -> {
            Schedules schedules = this.queues.computeIfAbsent(queue, (name) -> new Schedules());
            T answer = transition.apply(schedules, messages, now);
            if (schedules.states.isEmpty()) {
                this.queues.remove(queue);
            }
            return answer;
        });
    }

    @Override
    public CompletableFuture<FireResult> fire(QueueName queue, @Nullable String node, List<ScheduleStep> steps) {
        return in(queue, (schedules, messages, now) -> {
            long millis = Micros.floorToMillis(now);
            boolean ledger = this.layouts.of(Partition.first(queue)).ledger();
            List<StepOutcome> outcomes = new ArrayList<>();
            steps.forEach((step) -> outcomes.add(schedules.applyAndEndRow(step, messages, millis, ledger)));
            if (node != null && outcomes.stream().anyMatch(StepOutcome::isApplied)) {
                schedules.firingNode = node;
                schedules.firedAt = Instant.ofEpochMilli(millis);
            }
            Long first = schedules.order.isEmpty() ? null : schedules.order.first().score();
            Map<String, ScheduleState> due = schedules.due(millis);
            return new FireResult(Micros.toInstant(now),
                    (first == null || first == ScheduleCursor.NEVER) ? null : Instant.ofEpochMilli(first),
                    schedules.firingNode, schedules.firedAt, schedules.states.size(), outcomes, due,
                    due.isEmpty() ? schedules.upcoming(node) : Map.of());
        });
    }

    @Override
    public CompletableFuture<Boolean> resign(QueueName queue, String node) {
        return in(queue, (schedules, messages, now) -> {
            boolean resigned = node.equals(schedules.firingNode);
            if (resigned) {
                schedules.firesFirst(null);
            }
            return resigned;
        }).thenApply((resigned) -> notified(queue, resigned));
    }

    @Override
    public CompletableFuture<Boolean> change(QueueName queue, ScheduleChange change) {
        return in(queue, (schedules, messages, now) -> schedules.change(change))
            .thenApply((changed) -> notified(queue, changed));
    }

    private boolean notified(QueueName queue, boolean changed) {
        if (changed) {
            this.wakeUps.notifyListeners(Partition.first(queue), WakeUpSignal.SCHEDULES_CHANGED);
        }
        return changed;
    }

    /** No other node declares anything, and this one always declares the same. */
    @Override
    public CompletableFuture<DeclarationResult> declare(QueueName queue, String owner, boolean removes,
            Map<String, String> fingerprints) {
        return this.store.in(Partition.first(queue), (messages, now) -> {
            this.owners.put(owner, Instant.ofEpochMilli(Micros.floorToMillis(now)));
            Map<String, Standing> standings = new LinkedHashMap<>();
            fingerprints.keySet().forEach((name) -> standings.put(name, Standing.WINS));
            return new DeclarationResult(standings, List.of());
        });
    }

    @Override
    public CompletableFuture<ScheduleSnapshot> find(QueueName queue, String name) {
        return in(queue, (schedules, messages, now) -> schedules.stored(name, now, this.owners));
    }

    @Override
    public CompletableFuture<ScheduleSnapshotPage> list(QueueName queue, @Nullable ScheduleCursor after, int limit) {
        return in(queue, (schedules, messages, now) -> {
            List<ScheduleCursor> positions = ((after != null) ? schedules.order.tailSet(after, false) : schedules.order)
                .stream()
                .limit(limit + 1L)
                .toList();
            List<ScheduleSnapshot> page = positions.stream()
                .limit(limit)
                .map((position) -> schedules.stored(position.name(), now, this.owners))
                .toList();
            return new ScheduleSnapshotPage(page, (positions.size() > limit) ? positions.get(limit - 1) : null);
        });
    }

    void clear() {
        this.queues.clear();
        this.owners.clear();
    }

    /** Changes or reads the schedules of one queue, under its lock. */
    private interface Transition<T> {

        T apply(Schedules schedules, MemoryQueue messages, long now);

    }

    /** Holds the schedules of a queue. */
    private static final class Schedules {

        private final Map<String, ScheduleState> states = new LinkedHashMap<>();

        private final Map<String, ScheduleCursor> positions = new HashMap<>();

        private final NavigableSet<ScheduleCursor> order = new TreeSet<>(
                Comparator.comparingLong((ScheduleCursor position) -> position.score())
                    .thenComparing(ScheduleCursor::name));

        private final Map<String, SkipLog> skips = new ConcurrentHashMap<>();

        private @Nullable String firingNode;

        /** When that node last applied a step. */
        private @Nullable Instant firedAt;

        StepOutcome applyAndEndRow(ScheduleStep step, MemoryQueue messages, long now, boolean ledger) {
            StepOutcome outcome = apply(step, messages, now, ledger);
            if (step.occurrence() != null && outcome != StepOutcome.SENT) {
                messages.endRow(step.occurrence().message());
            }
            return outcome;
        }

        private StepOutcome apply(ScheduleStep step, MemoryQueue messages, long now, boolean ledger) {
            ScheduleState state = this.states.get(step.name());
            if (state == null || !state.isExpected(step.generation(), step.next(), step.last())) {
                return StepOutcome.STALE;
            }
            if (step.isPostponement()) {
                move(ScheduleCursor.ofScore(step.name(),
                        Math.max(now + RETRY_MILLIS, ScheduleCursor.score(state.next()))));
                return StepOutcome.POSTPONED;
            }
            if (step.next() == ScheduleState.NONE || step.next() > now) {
                return StepOutcome.EARLY;
            }
            Occurrence occurrence = step.occurrence();
            if (occurrence == null) {
                return skip(step.name(), state, step.to(), Objects.requireNonNull(step.skip()));
            }
            if (ledger && occurrence.message().revision() == 0 && !occurrence.rowless()) {
                return StepOutcome.UNRECORDED;
            }
            if (messages.hasEnded(occurrence.message())
                    || (occurrence.validUntil() != null && now > occurrence.validUntil())) {
                return StepOutcome.OUTDATED;
            }
            SkipReason reason = holds(messages, occurrence.lastId()) ? SkipReason.OVERLAP
                    : holds(messages, occurrence.backlogId()) ? SkipReason.BACKLOG : null;
            if (reason != null) {
                Instant nominal = Instant.ofEpochMilli(step.next());
                Position to = (reason == SkipReason.BACKLOG)
                        ? new Position(step.to().next(), state.tail(), ScheduleState.BACKLOGGED) : step.to();
                return skip(step.name(), state, to, new ScheduleSkip(reason, nominal, nominal, 1));
            }
            boolean stored = messages.sendOccurrence(occurrence.message(), occurrence.voids());
            put(step.name(), state.sent(step.to()));
            return stored ? StepOutcome.SENT : StepOutcome.KEPT;
        }

        private static boolean holds(MemoryQueue messages, @Nullable String id) {
            return id != null && messages.holds(id);
        }

        private StepOutcome skip(String name, ScheduleState state, Position to, ScheduleSkip skip) {
            record(name, skip, state.last());
            put(name, state.skipped(to));
            return StepOutcome.skipped(skip.reason());
        }

        private void record(String name, ScheduleSkip skip, long last) {
            this.skips.put(name, this.skips.getOrDefault(name, SkipLog.EMPTY).with(skip, last));
        }

        boolean change(ScheduleChange change) {
            ScheduleState state = this.states.get(change.name());
            ScheduleState expected = change.expected();
            if ((state == null) != (expected == null) || (state != null && expected != null
                    && !state.isExpected(expected.generation(), expected.next(), expected.last()))) {
                return false;
            }
            if (change.state() == null) {
                remove(change.name());
                return true;
            }
            if (change.skip() != null) {
                record(change.name(), change.skip(), (expected != null) ? expected.last() : ScheduleState.NONE);
            }
            put(change.name(), change.state());
            if (change.node() != null) {
                firesFirst(change.node());
            }
            return true;
        }

        void firesFirst(@Nullable String node) {
            this.firingNode = node;
            this.firedAt = null;
        }

        private void put(String name, ScheduleState state) {
            this.states.put(name, state);
            move(ScheduleCursor.of(name, state));
        }

        private void move(ScheduleCursor position) {
            ScheduleCursor before = this.positions.put(position.name(), position);
            if (before != null) {
                this.order.remove(before);
            }
            this.order.add(position);
        }

        private void remove(String name) {
            this.states.remove(name);
            ScheduleCursor before = this.positions.remove(name);
            if (before != null) {
                this.order.remove(before);
            }
            this.skips.remove(name);
            if (this.states.isEmpty()) {
                firesFirst(null);
            }
        }

        Map<String, ScheduleState> due(long now) {
            Map<String, ScheduleState> due = new LinkedHashMap<>();
            for (ScheduleCursor position : this.order) {
                if (position.score() > now || due.size() == BATCH_LIMIT) {
                    break;
                }
                due.put(position.name(), Objects.requireNonNull(this.states.get(position.name())));
            }
            return due;
        }

        /** Returns the schedules of the next time to the node that fires first. */
        Map<String, ScheduleState> upcoming(@Nullable String node) {
            boolean fires = node != null && (this.firingNode == null || this.firingNode.equals(node));
            if (!fires || this.order.isEmpty() || this.order.first().score() == ScheduleCursor.NEVER) {
                return Map.of();
            }
            return due(this.order.first().score());
        }

        ScheduleSnapshot stored(String name, long now, Map<String, Instant> owners) {
            ScheduleState state = this.states.get(name);
            return new ScheduleSnapshot(name, state, this.skips.getOrDefault(name, SkipLog.EMPTY),
                    Micros.toInstant(now), (state != null) ? owners.get(state.owner()) : null);
        }

    }

}

package io.delayqueue.redis;

import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.QueueName;
import io.delayqueue.SkipReason;
import io.delayqueue.redis.script.RedisScripts;
import io.delayqueue.redis.script.ScheduleArguments;
import io.delayqueue.redis.script.ScriptCodec;
import io.delayqueue.store.Partition;
import io.delayqueue.store.schedule.DeclarationResult;
import io.delayqueue.store.schedule.DeclarationResult.Standing;
import io.delayqueue.store.schedule.FireResult;
import io.delayqueue.store.schedule.ScheduleChange;
import io.delayqueue.store.schedule.ScheduleCursor;
import io.delayqueue.store.schedule.ScheduleState;
import io.delayqueue.store.schedule.ScheduleStep;
import io.delayqueue.store.schedule.ScheduleStore;
import io.delayqueue.store.schedule.SkipLog;
import io.delayqueue.store.schedule.StepOutcome;
import io.delayqueue.store.schedule.ScheduleSnapshot;
import io.delayqueue.store.schedule.ScheduleSnapshotPage;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import static io.delayqueue.redis.script.ScriptCodec.bytes;
import static io.delayqueue.redis.script.ScriptCodec.number;
import static io.delayqueue.redis.script.ScriptCodec.text;

/**
 * Stores schedules in Redis by Lua scripts, whose headers specify the operations; this
 * class only converts arguments to bytes and replies to values.
 */
public final class RedisScheduleStore implements ScheduleStore {

    private static final Logger logger = LoggerFactory.getLogger(RedisScheduleStore.class);

    private static final int HEADER = 2;

    private static final int FIELDS = 4;

    private final RedisScriptExecutor redis;

    public RedisScheduleStore(RedisScriptExecutor redis) {
        this.redis = redis;
    }

    @Override
    public CompletableFuture<FireResult> fire(QueueName queue, @Nullable String node, List<ScheduleStep> steps) {
        return this.redis
            .schedules(RedisScripts.FIRE_SCHEDULES, queue, ScheduleArguments.ofFire(node, BATCH_LIMIT, steps))
            .thenApply((reply) -> toFiring(queue, reply));
    }

    private FireResult toFiring(QueueName queue, List<Object> reply) {
        logRefusedWakeUp(queue, reply.get(4));
        long nextAt = number(reply.get(1));
        String[] node = text(reply.get(2)).split(" ");
        long firedAt = (node.length > 1) ? Long.parseLong(node[1]) : 0;
        List<StepOutcome> outcomes = ((List<?>) reply.get(5)).stream().map((each) -> outcome(text(each))).toList();
        return new FireResult(ScriptCodec.ofMicros(number(reply.get(0))),
                (nextAt == 0) ? null : Instant.ofEpochMilli(nextAt), node[0].isEmpty() ? null : node[0],
                (firedAt == 0) ? null : Instant.ofEpochMilli(firedAt), number(reply.get(3)), outcomes,
                states((List<?>) reply.get(6)), states((List<?>) reply.get(7)));
    }

    private static Map<String, ScheduleState> states(List<?> entries) {
        Map<String, ScheduleState> states = new LinkedHashMap<>();
        for (int i = 0; i < entries.size(); i += 2) {
            ScheduleState state = state(entries.get(i + 1));
            if (state != null) {
                states.put(text(entries.get(i)), state);
            }
        }
        return states;
    }

    private static StepOutcome outcome(String text) {
        return switch (text) {
            case "sent" -> StepOutcome.SENT;
            case "kept" -> StepOutcome.KEPT;
            case "stale" -> StepOutcome.STALE;
            case "early" -> StepOutcome.EARLY;
            case "outdated" -> StepOutcome.OUTDATED;
            case "unrecorded" -> StepOutcome.UNRECORDED;
            case "postponed" -> StepOutcome.POSTPONED;
            default -> StepOutcome.skipped(SkipReason.valueOf(text));
        };
    }

    /** Parses a stored state; {@code null} if there is none. */
    private static @Nullable ScheduleState state(Object stored) {
        String text = text(stored);
        if (text.isEmpty()) {
            return null;
        }
        try {
            return ScheduleState.parse(text);
        }
        catch (IllegalArgumentException ex) {
            return ScheduleState.UNREADABLE;
        }
    }

    @Override
    public CompletableFuture<Boolean> resign(QueueName queue, String node) {
        return this.redis.schedules(RedisScripts.RESIGN_FIRING_NODE, queue, bytes(node))
            .thenApply((reply) -> number(reply.get(0)) == 1);
    }

    @Override
    public CompletableFuture<Boolean> change(QueueName queue, ScheduleChange change) {
        return this.redis.schedules(RedisScripts.CHANGE_SCHEDULE, queue, ScheduleArguments.ofChange(change))
            .thenApply((reply) -> {
                logRefusedWakeUp(queue, reply.get(1));
                return number(reply.get(0)) == 1;
            });
    }

    @Override
    public CompletableFuture<DeclarationResult> declare(QueueName queue, String owner, boolean removes,
            Map<String, String> fingerprints) {
        List<String> names = List.copyOf(fingerprints.keySet());
        return this.redis
            .schedules(RedisScripts.DECLARE_SCHEDULES, queue,
                    ScheduleArguments.ofDeclarations(owner, removes, fingerprints))
            .thenApply((reply) -> {
                logRefusedWakeUp(queue, reply.get(0));
                List<?> answers = (List<?>) reply.get(1);
                Map<String, Standing> standings = new LinkedHashMap<>();
                for (int i = 0; i < names.size(); i++) {
                    standings.put(names.get(i), Standing.valueOf(text(answers.get(i))));
                }
                return new DeclarationResult(standings,
                        ((List<?>) reply.get(2)).stream().map((name) -> text(name)).toList());
            });
    }

    @Override
    public CompletableFuture<ScheduleSnapshot> find(QueueName queue, String name) {
        return this.redis.schedules(RedisScripts.SCHEDULES, queue, bytes(0), bytes(name), new byte[0])
            .thenApply((reply) -> toSchedules(reply).get(0));
    }

    @Override
    public CompletableFuture<ScheduleSnapshotPage> list(QueueName queue, @Nullable ScheduleCursor after, int limit) {
        return this.redis
            .schedules(RedisScripts.SCHEDULES, queue, bytes(limit), bytes((after != null) ? after.name() : ""),
                    (after != null) ? bytes(after.score()) : new byte[0])
            .thenApply((reply) -> {
                List<ScheduleSnapshot> schedules = toSchedules(reply);
                String score = text(reply.get(1));
                return new ScheduleSnapshotPage(schedules, score.isEmpty() ? null
                        : ScheduleCursor.ofScore(schedules.get(schedules.size() - 1).name(), Long.parseLong(score)));
            });
    }

    private static List<ScheduleSnapshot> toSchedules(List<Object> reply) {
        Instant now = ScriptCodec.ofMicros(number(reply.get(0)));
        List<ScheduleSnapshot> schedules = new ArrayList<>();
        for (int i = HEADER; i < reply.size(); i += FIELDS) {
            String name = text(reply.get(i));
            String called = text(reply.get(i + 3));
            schedules.add(new ScheduleSnapshot(name, state(reply.get(i + 1)), SkipLog.parse(text(reply.get(i + 2))),
                    now, called.isEmpty() ? null : Instant.ofEpochMilli(Long.parseLong(called))));
        }
        return schedules;
    }

    private void logRefusedWakeUp(QueueName queue, Object refused) {
        if (number(refused) == 1 && this.redis.recordRefusedWakeUp()) {
            this.redis.log(() -> logger.warn(
                    "The Redis user may not publish to channel '{}', nor probably to those of other queues; "
                            + "occurrences and changes of schedules are found by polls, up to a minute late",
                    this.redis.keysOf(Partition.first(queue)).wake()));
        }
    }

}

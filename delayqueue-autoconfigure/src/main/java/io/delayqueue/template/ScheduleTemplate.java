package io.delayqueue.template;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.DelayedMessage;
import io.delayqueue.PayloadConversionException;
import io.delayqueue.QueueName;
import io.delayqueue.ScheduleChangeResult;
import io.delayqueue.ScheduleDefinition;
import io.delayqueue.ScheduleOperations;
import io.delayqueue.SchedulePage;
import io.delayqueue.SchedulePutResult;
import io.delayqueue.ScheduleStatus;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.UnreadableSchedule;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.routing.StoreComponents;
import io.delayqueue.store.schedule.DefinitionCodec;
import io.delayqueue.store.schedule.LocalSchedules;
import io.delayqueue.store.schedule.OccurrenceEvents;
import io.delayqueue.store.schedule.ScheduleChanger;
import io.delayqueue.store.schedule.ScheduleCursor;
import io.delayqueue.store.schedule.ScheduleState;
import io.delayqueue.store.schedule.ScheduleSnapshot;
import io.delayqueue.store.schedule.ScheduleSnapshotPage;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Changes and reads the schedules of one queue through a store. Thread-safe.
 */
final class ScheduleTemplate implements ScheduleOperations {

    private static final Logger logger = LoggerFactory.getLogger(ScheduleTemplate.class);

    private static final int MAX_PREVIEW = 1_000;

    /** Maximum number of occurrences that calls can trigger in one millisecond. */
    private static final int MAX_TRIGGERS = 1_000;

    private final QueueName queue;

    private final LocalSchedules schedules;

    private final ScheduleChanger changer;

    private final Runnable registration;

    private final BlockingStoreCalls calls;

    private final MessagePreparer writer;

    private final Function<NewMessage, SendResult> sender;

    /**
     * Creates it.
     * @param writer checks and writes payloads
     * @param sender sends triggered occurrences
     */
    ScheduleTemplate(QueueName queue, StoreComponents components, BlockingStoreCalls calls, MessagePreparer writer,
            Function<NewMessage, SendResult> sender) {
        this.queue = queue;
        this.schedules = components.schedules();
        this.changer = new ScheduleChanger(this.schedules, new OccurrenceEvents(components.events()));
        this.registration = () -> components.registrar().register(queue);
        this.calls = calls;
        this.writer = writer;
        this.sender = sender;
    }

    @Override
    public SchedulePutResult put(ScheduleDefinition definition) {
        return put(definition, (stored) -> this.changer.put(this.queue, definition, stored));
    }

    @Override
    public boolean putIfAbsent(ScheduleDefinition definition, Instant from) {
        return put(definition, (stored) -> this.changer.putIfAbsent(this.queue, definition, stored, from));
    }

    private <T> T put(ScheduleDefinition definition, Function<String, CompletableFuture<T>> change) {
        DefinitionCodec codec = this.schedules.codec();
        byte[] envelope = this.writer.prepare(DelayedMessage.builder(this.queue.value(), definition.payload()).build())
            .written()
            .envelope();
        String stored = codec.write(definition, codec.json(envelope));
        this.registration.run();
        try {
            T result = await(change.apply(stored), "put a schedule");
            this.schedules.put(this.queue);
            return result;
        }
        catch (DelayQueueException ex) {
            if (ex.effect() != Effect.NONE) {
                this.schedules.put(this.queue); // it may be the firing node now
            }
            throw ex;
        }
    }

    /** Waits for a change; one that the caller no longer waits for makes no attempts. */
    private <T> T await(CompletableFuture<T> change, String operation) {
        try {
            return this.calls.await(change, operation);
        }
        finally {
            change.cancel(false);
        }
    }

    @Override
    public ScheduleChangeResult pause(String name) {
        return await(this.changer.pause(this.queue, ScheduleDefinition.requireName(name), true), "pause a schedule");
    }

    @Override
    public ScheduleChangeResult resume(String name) {
        return await(this.changer.pause(this.queue, ScheduleDefinition.requireName(name), false), "resume a schedule");
    }

    @Override
    public Optional<SendResult> trigger(String name) {
        ScheduleDefinition.requireName(name);
        Optional<SendResult> result;
        int offset = 0;
        do { // Two calls in one millisecond are two occurrences.
            result = this.calls.await(this.changer.trigger(this.queue, name, offset++), "trigger a schedule")
                .map(this.sender);
        }
        while (result.isPresent() && result.get().outcome() == SendOutcome.KEPT && offset < MAX_TRIGGERS);
        return result;
    }

    @Override
    public ScheduleChangeResult remove(String name) {
        return await(this.changer.remove(this.queue, ScheduleDefinition.requireName(name)), "remove a schedule");
    }

    @Override
    public Optional<ScheduleStatus> find(String name) {
        ScheduleSnapshot found = read(name);
        try {
            return (found.state() != null) ? Optional.of(status(found, found.state())) : Optional.empty();
        }
        catch (IllegalArgumentException | PayloadConversionException ex) {
            logger.warn("Schedule '{}' of queue '{}' is not returned, as its definition is not readable ({}). Put it "
                    + "again, or remove it", name, this.queue, ex.getMessage());
            return Optional.empty();
        }
    }

    private ScheduleSnapshot read(String name) {
        return this.calls.await(this.schedules.store().find(this.queue, ScheduleDefinition.requireName(name)),
                "find a schedule");
    }

    @Override
    public SchedulePage list(@Nullable String cursor, int limit) {
        require(limit >= 1 && limit <= MAX_PAGE, "Limit", limit, MAX_PAGE);
        ScheduleCursor after = (cursor != null) ? ScheduleCursor.parse(cursor) : null;
        ScheduleSnapshotPage found = this.calls.await(this.schedules.store().list(this.queue, after, limit),
                "list schedules");
        List<ScheduleStatus> page = new ArrayList<>();
        List<UnreadableSchedule> unreadable = new ArrayList<>();
        for (ScheduleSnapshot each : found.schedules()) {
            ScheduleState state = (each.state() != null) ? each.state() : ScheduleState.UNREADABLE;
            try {
                page.add(status(each, state));
            }
            catch (IllegalArgumentException | PayloadConversionException ex) {
                unreadable.add(new UnreadableSchedule(this.queue.value(), each.name(), state.application(),
                        String.valueOf(ex.getMessage())));
            }
        }
        return new SchedulePage(page, unreadable, (found.next() != null) ? found.next().text() : null);
    }

    private ScheduleStatus status(ScheduleSnapshot found, ScheduleState state) {
        if (!state.isReadable()) {
            throw new IllegalArgumentException(
                    "The stored state of schedule '%s' is not readable".formatted(found.name()));
        }
        ScheduleDefinition definition = this.schedules.codec().read(found.name(), state.definition());
        return new ScheduleStatus(this.queue.value(), definition, DefinitionCodec.payload(state.definition()),
                state.application(), state.paused(), instant(state.next()), instant(state.last()), state.sent(),
                found.skips().totals(), found.skips().skips());
    }

    private static @Nullable Instant instant(long millis) {
        return (millis != ScheduleState.NONE) ? Instant.ofEpochMilli(millis) : null;
    }

    @Override
    public List<Instant> preview(String name, int count) {
        require(count >= 1 && count <= MAX_PREVIEW, "Count", count, MAX_PREVIEW);
        return find(name).map((schedule) -> preview(schedule, count)).orElse(List.of());
    }

    private static List<Instant> preview(ScheduleStatus schedule, int count) {
        if (schedule.nextAt() == null) {
            return List.of();
        }
        List<Instant> times = new ArrayList<>(List.of(schedule.nextAt()));
        times.addAll(schedule.definition().preview(schedule.nextAt(), count - 1));
        return List.copyOf(times);
    }

    private static void require(boolean met, String what, int value, int most) {
        if (!met) {
            throw new IllegalArgumentException("%s %d is not valid: use 1 to %d".formatted(what, value, most));
        }
    }

}

package io.delayqueue.journal;

import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;

import io.delayqueue.QueueName;
import io.delayqueue.ScheduledOccurrence;
import io.delayqueue.store.HeldRevision;
import io.delayqueue.store.LedgerEntry;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionLayout;
import io.delayqueue.store.RecordedDeadLetter;
import io.delayqueue.store.RevisionPage;
import io.delayqueue.store.routing.PartitionLayouts;
import io.delayqueue.store.routing.StoreComponents;
import io.delayqueue.store.schedule.OccurrenceIds;
import io.delayqueue.store.schedule.ScheduleState;
import io.delayqueue.store.schedule.ScheduleStore;

/**
 * Finds which messages of ledgers the store holds, and stores dead letters. Thread-safe;
 * methods wait for the store unless their comment says otherwise.
 */
final class LedgerLookup {

    private final MessageStore store;

    private final ScheduleStore schedules;

    private final PartitionLayouts layouts;

    private final OfferSender offers;

    LedgerLookup(StoreComponents store, OfferSender offers) {
        this.store = store.messages();
        this.schedules = store.schedules().store();
        this.layouts = store.partitions();
        this.offers = offers;
    }

    /**
     * Returns what the store holds of the messages of rows, in their order. Waits only
     * for a layout that is not known.
     */
    CompletableFuture<List<HeldRevision>> held(List<JournalRow> rows) {
        Map<Partition, List<JournalRow>> byPartition = new LinkedHashMap<>();
        rows.forEach((row) -> partitionsOf(row)
            .forEach((partition) -> byPartition.computeIfAbsent(partition, (each) -> new ArrayList<>()).add(row)));
        Map<Partition, CompletableFuture<List<HeldRevision>>> answers = new LinkedHashMap<>();
        byPartition.forEach((partition, messages) -> answers.put(partition, this.store.heldRevisions(partition,
                messages.stream().map((row) -> LedgerEntry.ended(row.revision(), row.request().id())).toList())));
        return CompletableFuture.allOf(answers.values().toArray(CompletableFuture[]::new)).thenApply((done) -> {
            Map<Long, HeldRevision> found = new HashMap<>();
            byPartition.forEach((partition, messages) -> {
                List<HeldRevision> held = Objects.requireNonNull(answers.get(partition)).join();
                for (int i = 0; i < messages.size(); i++) {
                    found.merge(messages.get(i).revision(), held.get(i),
                            (one, other) -> (one.known() || one.held() != 0) ? one : other);
                }
            });
            return rows.stream().map((row) -> Objects.requireNonNull(found.get(row.revision()))).toList();
        });
    }

    /**
     * Returns the partitions that may hold a message, those of former layouts included.
     */
    private List<Partition> partitionsOf(JournalRow row) {
        JournalRequest request = row.request();
        NewMessage message = request.message();
        PartitionLayout layout = this.layouts.of(request.queue()).join();
        return layout.targets(request.queue(), (message != null) ? message.routingKey() : request.id())
            .stream()
            .map((target) -> target.partition())
            .distinct()
            .toList();
    }

    /**
     * Returns whether the row of an occurrence is over that its node has left behind: its
     * schedule has passed the occurrence without this row, or will fire it with another
     * one. The row is not over while the store holds its message, nor if the store has
     * lost the schedule, as nothing else is left of the occurrence then. Does not wait.
     */
    CompletableFuture<Boolean> isOver(JournalRow row) {
        JournalRequest request = row.request();
        ScheduledOccurrence occurrence = OccurrenceIds.of(request.id(), Map.of());
        if (occurrence == null) {
            return CompletableFuture.completedFuture(false);
        }
        return this.schedules.find(request.queue(), occurrence.name()).thenCompose((found) -> {
            ScheduleState state = found.state();
            long inserted = found.now().toEpochMilli() - row.age();
            if (state == null || isLater(state, occurrence.nominalTime().toEpochMilli(), inserted)) {
                return CompletableFuture.completedFuture(false);
            }
            // After the state was read, so that a schedule that has passed has decided.
            return this.store
                .heldRevisions(Partition.first(request.queue()),
                        List.of(LedgerEntry.ended(row.revision(), request.id())))
                .thenApply((held) -> held.get(0).held() != row.revision());
        });
    }

    /**
     * Returns whether the store has lost a former state of a schedule: whether that was
     * stored after a nominal time and the insert of its row, as its first generation is
     * the time of that, and does not come to it. A schedule may be stored later than its
     * first nominal time, but not later than the first row.
     * @param inserted about when the row was inserted, by the clock of the store
     */
    private static boolean isLater(ScheduleState state, long nominal, long inserted) {
        return state.generation() > Math.max(nominal, inserted)
                && (state.next() == ScheduleState.NONE || state.next() > nominal);
    }

    /**
     * Returns a page of the messages of a partition that have rows. Does not wait.
     */
    CompletableFuture<RevisionPage> page(Partition partition, String cursor) {
        return this.store.heldRevisions(partition, cursor);
    }

    /** Returns all partitions of a queue, by the recorded layout. Does not wait. */
    CompletableFuture<List<Partition>> partitions(QueueName queue) {
        return this.layouts.read(queue).thenApply((layout) -> layout.all(queue));
    }

    /**
     * Stores dead letters of a queue again that the store has lost. Does not wait.
     * @param begin before the rows were read, in nanoseconds of the monotonic clock
     * @return how many it had lost
     */
    CompletableFuture<Integer> restoreDeadLetters(QueueName queue, List<LedgerTable.Row> rows, long begin) {
        return partitions(queue).thenCompose((partitions) -> this.offers.prepared(queue)
            .thenCompose((prepared) -> restoreDeadLetters(partitions, rows, begin)));
    }

    private CompletableFuture<Integer> restoreDeadLetters(List<Partition> partitions, List<LedgerTable.Row> rows,
            long begin) {
        Map<Partition, List<RecordedDeadLetter>> places = rows.stream()
            .collect(Collectors.groupingBy(
                    (row) -> partitions.get((row.partition() < partitions.size()) ? row.partition() : 0),
                    Collectors.mapping(LedgerTable.Row::deadLetter, Collectors.toList())));
        CompletableFuture<Integer> restored = CompletableFuture.completedFuture(0);
        for (Map.Entry<Partition, List<RecordedDeadLetter>> place : places.entrySet()) {
            long deadline = this.offers.preparedDeadline(place.getKey(), begin);
            restored = restored.thenCombine(this.store.restoreDeadLetters(place.getKey(), deadline, place.getValue()),
                    Integer::sum);
        }
        return restored;
    }

    /**
     * Stores a dead letter for a message that the store has refused. A repetition stores
     * the same one.
     */
    LedgerTable.Row refuse(JournalRow row, String cause) {
        QueueName queue = row.request().queue();
        NewMessage message = row.messageOf(row.message(), row.message().onDuplicate());
        Partition partition = partitionsOf(row).get(0);
        RecordedDeadLetter deadLetter = this.store.toDeadLetter(message, message.id() + "~" + row.revision(), cause,
                Instant.ofEpochMilli(this.offers.now(queue)));
        long deadline = this.offers.deadline(partition, System.nanoTime());
        this.store.restoreDeadLetters(partition, deadline, List.of(deadLetter)).join();
        return new LedgerTable.Row(partition.index(), deadLetter);
    }

}

package io.delayqueue.journal;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.delayqueue.CancelResult;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.OnDuplicate;
import io.delayqueue.QueueName;
import io.delayqueue.RescheduleResult;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.MessageEventRecorderFactory;
import io.delayqueue.store.MessageGroupChangeException;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.Offer;
import io.delayqueue.store.Partition;
import io.delayqueue.store.RecordedDeadLetter;
import io.delayqueue.store.StoreFailures;
import io.delayqueue.store.routing.PartitionRouter;
import io.delayqueue.store.routing.RoutedSendResult;
import io.delayqueue.store.routing.StoreComponents;

/**
 * Applies rows of the journal to the store, each with a deadline on the store's clock
 * that was fixed before the row was read: a process that is suspended meanwhile changes
 * nothing later. Thread-safe; methods may wait for the store's time, and otherwise return
 * at once.
 */
final class JournalOffers {

    /** How long after a message is due its row is compared with the store. */
    static final Duration CHECK_DELAY = Duration.ofMinutes(2);

    /** Maximum number of messages of a batch. */
    private static final int BATCH_LIMIT = 50;

    /** Maximum size of them, in bytes. */
    private static final int BATCH_BYTES = 64 * 1024;

    private final PartitionRouter router;

    private final MessageStore store;

    private final MessageEventRecorderFactory events;

    private final Function<QueueName, JournalMode> modes;

    private final StoreClock clock;

    private final Duration span;

    /**
     * Creates the offers.
     * @param store applies the requests
     * @param modes the mode of each queue
     * @param span from the time when a row is read until the deadline
     */
    JournalOffers(StoreComponents store, Function<QueueName, JournalMode> modes, Duration span) {
        this.router = new PartitionRouter(store);
        this.store = store.messages();
        this.events = store.events();
        this.modes = modes;
        this.clock = new StoreClock(store.partitions());
        this.span = span;
    }

    /** Returns whether rows of a queue are kept until their messages have ended. */
    boolean isLedger(QueueName queue) {
        return this.modes.apply(queue) == JournalMode.LEDGER;
    }

    /** Returns for how long the store must remember a message whose row was deleted. */
    Duration memory() {
        return this.span.multipliedBy(4);
    }

    /**
     * Applies the requests of rows that are not accepted: sends by one call for each
     * batch and partition.
     * @param rows with distinct ids
     * @param begin before the rows were read, in nanoseconds of the monotonic clock
     * @return the answer of the store to each
     */
    List<CompletableFuture<?>> requests(List<JournalRow> rows, long begin) {
        Map<JournalRow, CompletableFuture<?>> answers = new IdentityHashMap<>();
        for (List<JournalRow> batch : batches(rows)) {
            QueueName queue = batch.get(0).request().queue();
            List<CompletableFuture<SendResult>> sent = schedule(batch, this::messageOf, begin);
            for (int i = 0; i < batch.size(); i++) {
                answers.put(batch.get(i), sent.get(i).thenApply((result) -> counted(queue, result)));
            }
        }
        rows.stream()
            .filter((row) -> row.request().message() == null)
            .forEach((row) -> answers.put(row, change(row, begin)));
        return rows.stream().<CompletableFuture<?>>map((row) -> Objects.requireNonNull(answers.get(row))).toList();
    }

    private NewMessage messageOf(JournalRow row) {
        NewMessage message = row.message();
        return isLedger(row.request().queue()) ? row.messageOf(message, message.onDuplicate()) : message;
    }

    private CompletableFuture<?> change(JournalRow row, long begin) {
        JournalRequest request = row.request();
        DueTime due = request.due();
        if (due != null) {
            return limited(row, begin, (offer) -> this.router.reschedule(request.queue(), request.id(), due, offer));
        }
        return limited(row, begin, (offer) -> this.router.cancel(request.queue(), request.id(), offer)
            .thenApply((result) -> counted(request.queue(), result)));
    }

    /**
     * Restores the message of an accepted row, unless the store knows its revision or a
     * later one.
     * @param begin before the row was read, in nanoseconds of the monotonic clock
     */
    CompletableFuture<SendResult> restore(JournalRow row, NewMessage message, long begin) {
        return schedule(row, row.messageOf(message, OnDuplicate.REPLACE), begin);
    }

    /**
     * Restores the messages of accepted rows by one call for each partition.
     * @param rows a batch
     * @param begin before the rows were read, in nanoseconds of the monotonic clock
     * @return the result of each
     */
    List<CompletableFuture<SendResult>> restore(List<JournalRow> rows, long begin) {
        return schedule(rows, (row) -> row.messageOf(row.message(), OnDuplicate.REPLACE), begin);
    }

    private CompletableFuture<SendResult> schedule(JournalRow row, NewMessage message, long begin) {
        return limited(row, begin, (offer) -> this.router.schedule(row.request().queue(), message, offer));
    }

    private List<CompletableFuture<SendResult>> schedule(List<JournalRow> rows,
            Function<JournalRow, NewMessage> message, long begin) {
        JournalRow first = rows.get(0);
        List<NewMessage> messages = rows.stream().map(message).toList();
        if (rows.size() == 1) {
            return List.of(schedule(first, messages.get(0), begin));
        }
        CompletableFuture<List<RoutedSendResult>> answers = limited(first, begin,
                (offer) -> this.router.schedule(first.request().queue(), messages, offer));
        return IntStream.range(0, rows.size())
            .mapToObj((i) -> answers.thenCompose((all) -> all.get(i).toFuture())
                // One message of another group than Redis has fails the whole call.
                .exceptionallyCompose((failure) -> StoreFailures.unwrap(failure) instanceof MessageGroupChangeException
                        ? schedule(rows.get(i), messages.get(i), begin) : CompletableFuture.failedFuture(failure)))
            .toList();
    }

    /**
     * Divides the rows of sends into parts that one call can offer: of one queue, and
     * with the same number of failures. Sends of a queue stay in their order.
     * @param rows of which no two have the same id
     */
    static List<List<JournalRow>> batches(List<JournalRow> rows) {
        List<List<JournalRow>> batches = new ArrayList<>();
        List<JournalRow> batch = List.of();
        long bytes = 0;
        for (JournalRow row : rows.stream()
            .sorted(Comparator.comparing((row) -> row.request().queue().value()))
            .toList()) {
            if (row.request().message() == null) {
                continue;
            }
            bytes += row.size();
            if (batch.isEmpty() || batch.size() == BATCH_LIMIT || bytes > BATCH_BYTES
                    || !hasCallOf(row, batch.get(0))) {
                batch = new ArrayList<>();
                batches.add(batch);
                bytes = row.size();
            }
            batch.add(row);
        }
        return batches;
    }

    private static boolean hasCallOf(JournalRow row, JournalRow first) {
        return row.failures() == first.failures() && row.request().queue().equals(first.request().queue());
    }

    /** Cancels again what a row canceled that the store had applied. */
    CompletableFuture<CancelResult> cancelAgain(JournalRow row, long begin) {
        return limited(row, begin, (offer) -> this.router.cancel(row.request().queue(), row.request().id(), offer));
    }

    /**
     * Postpones a message again that an older copy of the store has with an earlier due
     * time. A later one is left alone: the message may be waiting for a retry.
     * @param result what the store returned for the message
     */
    CompletableFuture<SendResult> postponeAgain(JournalRow row, NewMessage message, SendResult result, long begin) {
        Instant due = result.dueAt();
        if (result.outcome() != SendOutcome.RECORDED || due == null || message.due().relative()
                || due.toEpochMilli() >= message.due().millis()) {
            return CompletableFuture.completedFuture(result);
        }
        JournalRequest request = row.request();
        // The thread that brought the result must not wait for the store's time.
        return CompletableFuture
            .supplyAsync(() -> limited(row, begin,
                    (offer) -> this.router.reschedule(request.queue(), request.id(), message.due(), offer)
                        .thenApply((answer) -> result)))
            .thenCompose(Function.identity());
    }

    /** Returns how long after now the row of a message due then is to be checked. */
    Duration nextCheck(QueueName queue, long dueMillis) {
        long now = this.clock.millis(queue, System.nanoTime());
        return CHECK_DELAY.plusMillis(Math.max(0, dueMillis - now));
    }

    /**
     * Returns a due time as milliseconds since the epoch, of the store's clock; not
     * earlier than the store would compute it.
     */
    long millis(QueueName queue, DueTime due) {
        return due.relative() ? this.clock.millisOrLater(queue, System.nanoTime()) + due.millis() : due.millis();
    }

    /**
     * Returns a row whose due time is absolute if it is a reschedule, so that the row of
     * the message gets the due time that the store applies; the same row if the store
     * does not return its time.
     */
    JournalRow resolved(JournalRow row) {
        JournalRequest request = row.request();
        DueTime due = request.due();
        if (request.message() != null || due == null || !due.relative()) {
            return row;
        }
        try {
            return row.with(JournalRequest.reschedule(request.queue(), request.id(),
                    new DueTime(millis(request.queue(), due), false)));
        }
        catch (RuntimeException ex) {
            return row; // the offer fails too
        }
    }

    private <T> CompletableFuture<T> limited(JournalRow row, long begin, Function<Offer, CompletableFuture<T>> call) {
        QueueName queue = row.request().queue();
        try {
            return call.apply(new Offer(row.revision(), deadline(queue, begin), row.accepted() ? row.failures() : null))
                .whenComplete((answer, failure) -> {
                    if (failure != null) {
                        this.clock.forget(queue);
                    }
                });
        }
        catch (CompletionException ex) {
            return CompletableFuture.failedFuture(new StoreUnavailableException(
                    "The store did not return its time; nothing was changed", Effect.NONE, StoreFailures.unwrap(ex)));
        }
        catch (RuntimeException ex) {
            return CompletableFuture.failedFuture(ex);
        }
    }

    private long deadline(QueueName queue, long begin) {
        return (this.clock.millis(queue, begin) + this.span.toMillis()) * 1000;
    }

    /**
     * Stores dead letters of a queue again that the store has lost.
     * @param begin before the rows were read, in nanoseconds of the monotonic clock
     * @return how many it had lost
     */
    int restoreDeadLetters(QueueName queue, List<LedgerTable.Row> rows, long begin) {
        long deadline = deadline(queue, begin);
        List<Partition> partitions = this.router.recorded(queue).join();
        Map<Partition, List<RecordedDeadLetter>> places = rows.stream()
            .collect(Collectors.groupingBy(
                    (row) -> partitions.get((row.partition() < partitions.size()) ? row.partition() : 0),
                    Collectors.mapping(LedgerTable.Row::deadLetter, Collectors.toList())));
        int restored = 0;
        for (Map.Entry<Partition, List<RecordedDeadLetter>> place : places.entrySet()) {
            restored += this.store.restoreDeadLetters(place.getKey(), deadline, place.getValue()).join();
        }
        return restored;
    }

    private SendResult counted(QueueName queue, SendResult result) {
        this.events.of(queue).sent(result.outcome());
        return result;
    }

    private CancelResult counted(QueueName queue, CancelResult result) {
        if (result == CancelResult.CANCELLED) {
            this.events.of(queue).cancelled();
        }
        return result;
    }

}

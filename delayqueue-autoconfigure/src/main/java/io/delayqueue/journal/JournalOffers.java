package io.delayqueue.journal;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
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
     * Applies the request of a row that is not accepted.
     * @param begin before the row was read, in nanoseconds of the monotonic clock
     * @return the answer of the store
     */
    CompletableFuture<?> request(JournalRow row, long begin) {
        JournalRequest request = row.request();
        NewMessage message = request.message();
        if (message != null) {
            NewMessage sent = isLedger(request.queue()) ? row.messageOf(message, message.onDuplicate()) : message;
            return limited(row, begin, (offer) -> this.router.schedule(request.queue(), sent, offer)
                .thenApply((result) -> counted(request.queue(), result)));
        }
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
        NewMessage sent = row.messageOf(message, OnDuplicate.REPLACE);
        return limited(row, begin, (offer) -> this.router.schedule(row.request().queue(), sent, offer));
    }

    /**
     * Restores the messages of accepted rows by one call for each partition.
     * @param rows of one queue, with distinct ids and the same number of failures
     * @param begin before the rows were read, in nanoseconds of the monotonic clock
     * @return the result of each
     */
    List<CompletableFuture<SendResult>> restore(List<JournalRow> rows, long begin) {
        JournalRow first = rows.get(0);
        if (rows.size() == 1) {
            return List.of(restore(first, first.message(), begin));
        }
        List<NewMessage> messages = rows.stream()
            .map((row) -> row.messageOf(row.message(), OnDuplicate.REPLACE))
            .toList();
        CompletableFuture<List<RoutedSendResult>> answers = limited(first, begin,
                (offer) -> this.router.schedule(first.request().queue(), messages, offer));
        return IntStream.range(0, rows.size())
            .mapToObj((i) -> answers.thenCompose((all) -> all.get(i).toFuture())
                // One message of another group than Redis has fails the whole call.
                .exceptionallyCompose((failure) -> StoreFailures.unwrap(failure) instanceof MessageGroupChangeException
                        ? restore(rows.get(i), rows.get(i).message(), begin) : CompletableFuture.failedFuture(failure)))
            .toList();
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

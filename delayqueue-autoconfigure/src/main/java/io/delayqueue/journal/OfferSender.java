package io.delayqueue.journal;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;

import io.delayqueue.CancelResult;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.OnDuplicate;
import io.delayqueue.QueueName;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.FailedAttempts;
import io.delayqueue.store.MessageEventRecorderFactory;
import io.delayqueue.store.MessageGroupChangeException;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.OfferConditions;
import io.delayqueue.store.Partition;
import io.delayqueue.store.StoreFailures;
import io.delayqueue.store.routing.PartitionLayouts;
import io.delayqueue.store.routing.PartitionRouter;
import io.delayqueue.store.routing.RoutedSendResult;
import io.delayqueue.store.routing.StoreComponents;

/**
 * Sends rows to the store, each with a deadline on the store's clock that was fixed
 * before the row was read: what a suspended process sends later is rejected. Thread-safe;
 * methods may wait for the store's time, and otherwise return at once.
 */
final class OfferSender {

    /** How long after a message is due its row is compared with the store. */
    static final Duration CHECK_DELAY = Duration.ofMinutes(2);

    /** Maximum number of messages of a batch. */
    private static final int BATCH_LIMIT = 50;

    /** Maximum size of them, in bytes. */
    private static final int BATCH_BYTES = 64 * 1024;

    private final PartitionRouter router;

    private final PartitionLayouts layouts;

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
    OfferSender(StoreComponents store, Function<QueueName, JournalMode> modes, Duration span) {
        this.router = new PartitionRouter(store);
        this.layouts = store.partitions();
        this.events = store.events();
        this.modes = modes;
        this.clock = new StoreClock(store.partitions());
        this.span = span;
    }

    JournalMode mode(QueueName queue) {
        return this.modes.apply(queue);
    }

    /** Returns whether a queue is a ledger on this node. */
    boolean isLedger(QueueName queue) {
        return mode(queue) == JournalMode.LEDGER;
    }

    /**
     * Returns whether rows of a queue are kept until their messages have ended. If this
     * node records no requests on the queue, they come from other nodes, on which it may
     * be a ledger.
     */
    boolean keepsRows(QueueName queue) {
        return mode(queue) != JournalMode.OUTBOX;
    }

    /**
     * Applies the requests of rows that are not accepted: sends by one call for each
     * batch and partition.
     * @param rows with distinct ids
     * @param earlier the accepted rows of their ids
     * @param begin before the rows were read, in nanoseconds of the monotonic clock
     * @return the answer of the store to each
     */
    List<CompletableFuture<?>> requests(List<JournalRow> rows, EarlierRows earlier, long begin) {
        Map<JournalRow, CompletableFuture<?>> answers = new IdentityHashMap<>();
        for (List<JournalRow> batch : batches(rows)) {
            QueueName queue = batch.get(0).request().queue();
            List<CompletableFuture<SendResult>> sent = schedule(batch, this::messageOf, offer(batch, earlier, begin));
            for (int i = 0; i < batch.size(); i++) {
                answers.put(batch.get(i), sent.get(i).thenApply((result) -> counted(queue, result)));
            }
        }
        rows.stream()
            .filter((row) -> row.request().message() == null)
            .forEach((row) -> answers.put(row, change(row, offer(List.of(row), earlier, begin))));
        return rows.stream().<CompletableFuture<?>>map((row) -> Objects.requireNonNull(answers.get(row))).toList();
    }

    private OfferConditions offer(List<JournalRow> rows, EarlierRows earlier, long begin) {
        JournalRow first = rows.get(0);
        Map<String, List<Long>> voids = new HashMap<>();
        for (JournalRow row : rows) {
            List<Long> revisions = earlier.voids(row);
            if (!revisions.isEmpty()) {
                voids.put(row.request().id(), revisions);
            }
        }
        return new OfferConditions(first.revision(), deadline(begin)).failed(failedOf(rows)).voiding(voids);
    }

    private static Map<String, FailedAttempts> failedOf(List<JournalRow> rows) {
        Map<String, FailedAttempts> failed = new HashMap<>();
        rows.stream()
            .filter((row) -> row.failed().count() > 0)
            .forEach((row) -> failed.put(row.request().id(), row.failed()));
        return failed;
    }

    /** Returns the deadline of rows that were read after a moment. */
    private ToLongFunction<Partition> deadline(long begin) {
        return (partition) -> (this.clock.millis(partition, begin) + this.span.toMillis()) * 1000;
    }

    private NewMessage messageOf(JournalRow row) {
        NewMessage message = row.message();
        return keepsRows(row.request().queue()) ? row.messageOf(message, message.onDuplicate()) : message;
    }

    private CompletableFuture<?> change(JournalRow row, OfferConditions offer) {
        JournalRequest request = row.request();
        DueTime due = request.due();
        if (due != null) {
            return limited(request.queue(), () -> this.router.reschedule(request.queue(), request.id(), due, offer));
        }
        return limited(request.queue(), () -> this.router.cancel(request.queue(), request.id(), offer)
            .thenApply((result) -> counted(request.queue(), result)));
    }

    /**
     * Restores the message of an accepted row with another due time, unless the store
     * knows its revision or a later one.
     * @param begin before the row was read, in nanoseconds of the monotonic clock
     */
    CompletableFuture<SendResult> restore(JournalRow row, DueTime due, long begin) {
        OfferConditions offer = new OfferConditions(row.revision(), deadline(begin)).restoring()
            .failed(Map.of(row.request().id(), new FailedAttempts(row.failed().count(), null)));
        return schedule(row, row.messageOf(row.message().dueAt(due), OnDuplicate.REPLACE), offer);
    }

    /**
     * Restores the messages of accepted rows by one call for each partition.
     * @param rows a batch
     * @param begin before the rows were read, in nanoseconds of the monotonic clock
     * @return the result of each
     */
    List<CompletableFuture<SendResult>> restore(List<JournalRow> rows, long begin) {
        return schedule(rows, (row) -> row.messageOf(row.message(), OnDuplicate.REPLACE),
                new OfferConditions(rows.get(0).revision(), deadline(begin)).restoring().failed(failedOf(rows)));
    }

    private CompletableFuture<SendResult> schedule(JournalRow row, NewMessage message, OfferConditions offer) {
        QueueName queue = row.request().queue();
        return limited(queue, () -> this.router.schedule(queue, message, offer));
    }

    private List<CompletableFuture<SendResult>> schedule(List<JournalRow> rows,
            Function<JournalRow, NewMessage> message, OfferConditions offer) {
        JournalRow first = rows.get(0);
        List<NewMessage> messages = rows.stream().map(message).toList();
        if (rows.size() == 1) {
            return List.of(schedule(first, messages.get(0), offer));
        }
        QueueName queue = first.request().queue();
        CompletableFuture<List<RoutedSendResult>> answers = limited(queue,
                () -> this.router.schedule(queue, messages, offer));
        return IntStream.range(0, rows.size())
            .mapToObj((i) -> answers.thenCompose((all) -> all.get(i).toFuture())
                // One message of another group than Redis has fails the whole call.
                .exceptionallyCompose((failure) -> StoreFailures.unwrap(failure) instanceof MessageGroupChangeException
                        ? this.router.schedule(queue, messages.get(i), offer)
                        : CompletableFuture.failedFuture(failure)))
            .toList();
    }

    /**
     * Divides the rows of sends into parts of one queue, which one call can offer. Sends
     * of a queue stay in their order.
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
                    || !row.request().queue().equals(batch.get(0).request().queue())) {
                batch = new ArrayList<>();
                batches.add(batch);
                bytes = row.size();
            }
            batch.add(row);
        }
        return batches;
    }

    /** Cancels again what a row canceled that the store had applied. */
    CompletableFuture<CancelResult> cancelAgain(JournalRow row, long begin) {
        JournalRequest request = row.request();
        OfferConditions offer = new OfferConditions(row.revision(), deadline(begin)).restoring();
        return limited(request.queue(), () -> this.router.cancel(request.queue(), request.id(), offer));
    }

    /** Removes a message that has ended, unless it is a later one by now. */
    CompletableFuture<CancelResult> endAgain(QueueName queue, String id, long revision) {
        OfferConditions offer = new OfferConditions(revision, deadline(System.nanoTime())).restoring()
            .voiding(Map.of(id, List.of(revision)));
        return limited(queue, () -> this.router.cancel(queue, id, offer));
    }

    /**
     * Moves a message again that an older copy of the store has with another due time,
     * unless that has changed since, or to an earlier one if the message may wait for a
     * retry.
     * @param there the due time that the store has
     */
    CompletableFuture<?> rescheduleAgain(JournalRow row, long there, long begin) {
        JournalRequest request = row.request();
        OfferConditions offer = new OfferConditions(row.revision(), deadline(begin)).restoring().ifDueAt(there);
        return limited(request.queue(),
                () -> this.router.reschedule(request.queue(), request.id(), row.knownDue(), offer));
    }

    /** Returns how long after now the row of a message due then is to be checked. */
    Duration nextCheck(QueueName queue, long dueMillis) {
        long now = now(queue);
        return CHECK_DELAY.plusMillis(Math.max(0, dueMillis - now));
    }

    /** Returns about the time of a queue, in milliseconds since the epoch. */
    long now(QueueName queue) {
        this.clock.prepare(queue);
        return this.clock.millis(Partition.first(queue), System.nanoTime());
    }

    /**
     * Returns the due time of a request as milliseconds since the epoch, of the clock of
     * its message; not earlier than the store would compute it.
     */
    long millis(JournalRequest request, DueTime due) {
        if (!due.relative()) {
            return due.millis();
        }
        this.clock.prepare(request.queue());
        Partition partition = this.layouts.of(request.queue())
            .join()
            .targets(request.queue(), request.id())
            .get(0)
            .partition();
        return this.clock.millisOrLater(partition, System.nanoTime()) + due.millis();
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
            return row.with(
                    JournalRequest.reschedule(request.queue(), request.id(), new DueTime(millis(request, due), false)));
        }
        catch (RuntimeException ex) {
            return row; // the offer fails too
        }
    }

    private <T> CompletableFuture<T> limited(QueueName queue, Supplier<CompletableFuture<T>> call) {
        CompletableFuture<T> answer;
        try {
            this.clock.prepare(queue);
            answer = call.get();
        }
        catch (CompletionException ex) {
            answer = CompletableFuture.failedFuture(new StoreUnavailableException(
                    "The store did not return its time; nothing was changed", Effect.NONE, StoreFailures.unwrap(ex)));
        }
        catch (RuntimeException ex) {
            answer = CompletableFuture.failedFuture(ex);
        }
        return answer.whenComplete((result, failure) -> {
            if (failure != null) {
                this.clock.distrust(queue);
            }
        });
    }

    /** Reads the time of a queue if it is not known. */
    void prepare(QueueName queue) {
        this.clock.prepare(queue);
    }

    /**
     * Does the same, and does not wait. Afterwards offers to the queue do not wait
     * either.
     */
    CompletableFuture<Void> prepared(QueueName queue) {
        return this.clock.prepared(queue);
    }

    /** Returns the time from when rows are read or inserted until the deadline. */
    Duration span() {
        return this.span;
    }

    /** Returns the deadline of a call to a partition whose rows are about to be read. */
    long deadline(Partition partition, long begin) {
        prepare(partition.queue());
        return preparedDeadline(partition, begin);
    }

    /** Returns the same for a queue that was prepared, and does not wait. */
    long preparedDeadline(Partition partition, long begin) {
        return deadline(begin).applyAsLong(partition);
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

    /**
     * Returns the due time that the store has, if it differs from that of a row; 0 if it
     * does not.
     */
    static long otherDue(JournalRow row, SendResult result) {
        Instant due = result.dueAt();
        DueTime wanted = row.knownDue();
        return (result.outcome() == SendOutcome.RECORDED && due != null && !wanted.relative()
                && due.toEpochMilli() != wanted.millis()) ? due.toEpochMilli() : 0;
    }

}

package io.delayqueue.store.routing;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

import io.delayqueue.CancelResult;
import io.delayqueue.DeadLetter;
import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.QueueName;
import io.delayqueue.QueueStatistics;
import io.delayqueue.RedriveResult;
import io.delayqueue.RescheduleResult;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.StoredMessage;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.Lease;
import io.delayqueue.store.MessageInspector;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.OfferConditions;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionLayout;
import io.delayqueue.store.PartitionTarget;
import io.delayqueue.store.StaleLayoutException;
import io.delayqueue.store.StoreFailures;
import io.delayqueue.store.StoreFutures;
import org.jspecify.annotations.Nullable;

/**
 * Routes the calls of senders to the partitions of a queue. Searches an id in its
 * targets, the current one first, and then in all other partitions, where a process with
 * an outdated layout may have sent it. Queries the partitions one after another, so that
 * "not found" was true at one moment of the call: a partition accepts an id only after it
 * is gone from the others.
 * <p>
 * Repeats a call that was rejected because the layout has changed. Thread-safe and
 * non-blocking.
 */
public final class PartitionRouter {

    /**
     * Each repetition requires another change of the layout, so one is nearly always
     * enough.
     */
    private static final int MAX_REPEATS = 5;

    private final MessageStore store;

    private final MessageInspector inspector;

    private final PartitionLayouts layouts;

    private final QueueRegistrar registrar;

    public PartitionRouter(StoreComponents components) {
        this.store = components.messages();
        this.inspector = components.inspector();
        this.layouts = components.partitions();
        this.registrar = components.registrar();
    }

    /** Returns all partitions that may hold messages, by this version or a later one. */
    public CompletableFuture<List<Partition>> all(QueueName queue, int version) {
        return this.layouts.of(queue)
            .thenCompose((partitions) -> (partitions.version() >= version)
                    ? CompletableFuture.completedFuture(partitions) : this.layouts.read(queue))
            .thenApply((partitions) -> partitions.all(queue));
    }

    /**
     * Returns all partitions by the recorded layout, for calls about the whole queue,
     * because no partition rejects those as outdated.
     */
    public CompletableFuture<List<Partition>> recorded(QueueName queue) {
        return this.layouts.read(queue).thenApply((partitions) -> partitions.all(queue));
    }

    /** Handles the layout version that a claim returned. */
    public void onVersion(Partition partition, int version) {
        this.layouts.onVersion(partition, version);
    }

    /** Returns the routes of messages, in their order. */
    public CompletableFuture<List<PartitionRoute>> routes(QueueName queue, List<NewMessage> messages) {
        return routes(queue, messages, null);
    }

    private CompletableFuture<List<PartitionRoute>> routes(QueueName queue, List<NewMessage> messages,
            @Nullable OfferConditions offer) {
        this.registrar.register(queue);
        return this.layouts.of(queue).thenApply((partitions) -> {
            requireJournal(queue, partitions, offer);
            if (partitions.counts().equals(PartitionLayout.ONE.counts())) {
                PartitionRoute only = new PartitionRoute(
                        List.of(new PartitionTarget(Partition.first(queue), partitions.version())));
                return Collections.nCopies(messages.size(), only);
            }
            return messages.stream().map((message) -> PartitionRoute.of(queue, partitions, message)).toList();
        });
    }

    /** Stores one message. */
    public CompletableFuture<SendResult> schedule(QueueName queue, NewMessage message) {
        return schedule(queue, message, null);
    }

    /** Stores one message, within limits. */
    public CompletableFuture<SendResult> schedule(QueueName queue, NewMessage message,
            @Nullable OfferConditions offer) {
        this.registrar.register(queue);
        if (message.unique()) {
            // Most messages are of this kind, and never rejected for their target.
            return StoreFutures.then(this.layouts.of(queue),
                    (partitions) -> this.store.schedule(
                            requireJournal(queue, partitions, offer).target(queue, message.id()).with(offer),
                            List.of(message)))
                .thenApply((results) -> results.get(0));
        }
        return this.layouts.of(queue)
            .thenCompose((partitions) -> schedule(
                    PartitionRoute.of(queue, requireJournal(queue, partitions, offer), message), List.of(message),
                    offer))
            .thenCompose((answers) -> answers.get(0).toFuture());
    }

    /**
     * Stores messages of a journal with different ids, within limits.
     * @return the result of each
     */
    public CompletableFuture<List<RoutedSendResult>> schedule(QueueName queue, List<NewMessage> messages,
            OfferConditions offer) {
        return routes(queue, messages, offer).thenCompose((routes) -> {
            Map<PartitionRoute, List<Integer>> places = new LinkedHashMap<>();
            for (int i = 0; i < routes.size(); i++) {
                places.computeIfAbsent(routes.get(i), (route) -> new ArrayList<>()).add(i);
            }
            RoutedSendResult[] answers = new RoutedSendResult[messages.size()];
            List<CompletableFuture<Void>> calls = new ArrayList<>();
            places.forEach((route, positions) -> calls
                .add(schedule(route, positions.stream().map(messages::get).toList(), offer).thenAccept((results) -> {
                    for (int i = 0; i < positions.size(); i++) {
                        answers[positions.get(i)] = results.get(i);
                    }
                })));
            return CompletableFuture.allOf(calls.toArray(CompletableFuture[]::new))
                .thenApply((done) -> Arrays.asList(answers));
        });
    }

    /**
     * Rejects requests that bypass the journal of a queue: it would restore another state
     * after a loss.
     */
    private static PartitionLayout requireJournal(QueueName queue, PartitionLayout partitions,
            @Nullable OfferConditions offer) {
        if (partitions.ledger() && offer == null) {
            throw new StoreRefusedException(("Queue '%s' is a ledger, and this application has no journal for it, so "
                    + "the request could not be restored; nothing was changed. Set its delayqueue.journal.mode to 'ledger'")
                .formatted(queue), Effect.NONE, null);
        }
        return partitions;
    }

    private <T> CompletableFuture<T> change(QueueName queue, String id, @Nullable OfferConditions offer,
            Function<PartitionTarget, CompletableFuture<T>> call, Predicate<T> absent) {
        return search(queue, id, (partitions) -> requireJournal(queue, partitions, offer),
                (target) -> call.apply(target.with(offer)), absent);
    }

    /**
     * Stores messages with the same route.
     * @return the result of each; does not fail
     */
    public CompletableFuture<List<RoutedSendResult>> schedule(PartitionRoute route, List<NewMessage> messages) {
        return schedule(route, messages, null);
    }

    private CompletableFuture<List<RoutedSendResult>> schedule(PartitionRoute route, List<NewMessage> messages,
            @Nullable OfferConditions offer) {
        Sending sending = new Sending(route.queue(), messages, offer);
        List<Integer> all = new ArrayList<>();
        for (int i = 0; i < messages.size(); i++) {
            all.add(i);
        }
        return sending.go(route, 0, all, 0).thenApply((done) -> Arrays.asList(sending.answers));
    }

    public CompletableFuture<CancelResult> cancel(QueueName queue, String id) {
        return cancel(queue, id, null);
    }

    public CompletableFuture<CancelResult> cancel(QueueName queue, String id, @Nullable OfferConditions offer) {
        return change(queue, id, offer, (target) -> this.store.cancel(target, id), CancelResult.NOT_FOUND::equals);
    }

    public CompletableFuture<RescheduleResult> reschedule(QueueName queue, String id, DueTime due) {
        return reschedule(queue, id, due, null);
    }

    public CompletableFuture<RescheduleResult> reschedule(QueueName queue, String id, DueTime due,
            @Nullable OfferConditions offer) {
        return change(queue, id, offer, (target) -> this.store.reschedule(target, id, due),
                RescheduleResult.NOT_FOUND::equals);
    }

    public CompletableFuture<Optional<StoredMessage>> find(QueueName queue, String id) {
        return search(queue, id, UnaryOperator.identity(), (target) -> this.inspector.find(target, id),
                Optional::isEmpty);
    }

    /**
     * Makes the message of a dead letter due. This is a single atomic step if the queue
     * was never partitioned. Otherwise the message is sent to its current partition, and
     * then the dead letter is removed: a failure in between leaves both and loses
     * nothing.
     */
    public CompletableFuture<RedriveResult> redrive(QueueName queue, String deadLetterId) {
        return persist(queue,
                () -> this.layouts.read(queue)
                    .thenApply((partitions) -> requireJournal(queue, partitions, null))
                    .thenCompose((partitions) -> partitions.counts().equals(PartitionLayout.ONE.counts())
                            ? this.store.redrive(new PartitionTarget(Partition.first(queue), partitions.version()),
                                    deadLetterId)
                            : sendAgain(queue, partitions, deadLetterId, (message) -> schedule(queue, message))),
                0, false);
    }

    /**
     * Makes the message of a dead letter due by a send, and then removes the dead letter.
     * @param sender sends the message; its answer means that the message is not lost
     */
    public CompletableFuture<RedriveResult> redrive(QueueName queue, String deadLetterId,
            Function<NewMessage, CompletableFuture<SendResult>> sender) {
        return this.layouts.read(queue).thenCompose((partitions) -> sendAgain(queue, partitions, deadLetterId, sender));
    }

    private CompletableFuture<RedriveResult> sendAgain(QueueName queue, PartitionLayout partitions, String deadLetterId,
            Function<NewMessage, CompletableFuture<SendResult>> sender) {
        List<PartitionTarget> targets = List.copyOf(targets(queue, partitions, Lease.idOf(deadLetterId)));
        return query(targets, 0, (target) -> this.inspector.deadLetteredMessage(target.partition(), deadLetterId)
            .thenApply((found) -> found.map((message) -> new DeadLettered(target.partition(), deadLetterId, message))),
                Optional::isEmpty)
            .thenCompose((found) -> found.map((deadLettered) -> sendAgain(deadLettered, sender))
                .orElseGet(() -> CompletableFuture.completedFuture(RedriveResult.NOT_FOUND)));
    }

    private CompletableFuture<RedriveResult> sendAgain(DeadLettered deadLettered,
            Function<NewMessage, CompletableFuture<SendResult>> sender) {
        QueueName queue = deadLettered.partition().queue();
        if (deadLettered.message().envelope().length == 0) {
            return CompletableFuture.completedFuture(RedriveResult.EMPTY);
        }
        // A send would follow a message that is leased and cancelled, and does not detect
        // one in another group.
        return find(queue, deadLettered.message().id())
            .thenCompose((existing) -> existing.isPresent() ? CompletableFuture.completedFuture(RedriveResult.ID_IN_USE)
                    : sender.apply(deadLettered.message())
                        .handle((sent, failure) -> settle(deadLettered, sent, failure))
                        .thenCompose(Function.identity()));
    }

    /**
     * Removes the dead letter if the message is stored, even if too few replicas have it.
     */
    private CompletableFuture<RedriveResult> settle(DeadLettered deadLettered, @Nullable SendResult sent,
            @Nullable Throwable failure) {
        if (failure != null && !isStored(failure)) {
            return CompletableFuture.failedFuture(failure);
        }
        if (sent != null && sent.outcome() == SendOutcome.KEPT) {
            return CompletableFuture.completedFuture(RedriveResult.ID_IN_USE);
        }
        return this.store.removeRedriven(deadLettered.partition(), deadLettered.deadLetterId())
            .handle((purged, left) -> {
                if (left != null) {
                    throw new StoreUnavailableException(
                            "The message of the dead letter is stored again, but its letter may still be there",
                            Effect.UNKNOWN, left);
                }
                return failure;
            })
            .thenCompose((unreplicated) -> (unreplicated != null) ? CompletableFuture.failedFuture(unreplicated)
                    : CompletableFuture.completedFuture(RedriveResult.REDRIVEN));
    }

    private static boolean isStored(Throwable failure) {
        Throwable reason = StoreFailures.unwrap(failure);
        return reason instanceof DelayQueueException known && known.effect() == Effect.STORED;
    }

    /** Removes a dead letter from whichever partition holds it. */
    public CompletableFuture<Boolean> purge(QueueName queue, String deadLetterId) {
        return this.layouts.read(queue)
            .thenCompose((partitions) -> query(List.copyOf(targets(queue, partitions, Lease.idOf(deadLetterId))), 0,
                    (target) -> this.store.purge(target.partition(), deadLetterId), (purged) -> !purged));
    }

    /** Finds a dead letter in any partition. */
    public CompletableFuture<Optional<DeadLetter>> deadLetter(QueueName queue, String deadLetterId) {
        return this.layouts.read(queue)
            .thenCompose((partitions) -> query(List.copyOf(targets(queue, partitions, Lease.idOf(deadLetterId))), 0,
                    (target) -> this.inspector.deadLetter(target.partition(), deadLetterId), Optional::isEmpty));
    }

    /** Returns the total counts of all partitions. */
    public CompletableFuture<QueueStatistics> statistics(QueueName queue) {
        return recorded(queue).thenCompose(this::statistics);
    }

    private CompletableFuture<QueueStatistics> statistics(List<Partition> partitions) {
        return StoreFutures.all(partitions.stream().map(this.inspector::statistics).toList())
            .thenApply((all) -> all.stream().reduce(PartitionRouter::sum).orElseThrow());
    }

    private static QueueStatistics sum(QueueStatistics one, QueueStatistics other) {
        return new QueueStatistics(one.queue(), one.scheduled() + other.scheduled(), one.due() + other.due(),
                one.leased() + other.leased(), one.dead() + other.dead(), earlier(one.nextDueAt(), other.nextDueAt()));
    }

    private static @Nullable Instant earlier(@Nullable Instant one, @Nullable Instant other) {
        return (one == null || (other != null && other.isBefore(one))) ? other : one;
    }

    private <T> CompletableFuture<T> search(QueueName queue, String id, UnaryOperator<PartitionLayout> check,
            Function<PartitionTarget, CompletableFuture<T>> call, Predicate<T> absent) {
        return persist(queue,
                () -> this.layouts.of(queue)
                    .thenApply(check)
                    .thenCompose((partitions) -> query(List.copyOf(targets(queue, partitions, id)), 0, call, absent)),
                0, false);
    }

    /** Repeats a call while it is rejected for its layout version. */
    private <T> CompletableFuture<T> persist(QueueName queue, Supplier<CompletableFuture<T>> call, int repeats,
            boolean doubtful) {
        return call.get().handle((answer, failure) -> {
            if (failure == null) {
                return CompletableFuture.completedFuture(answer);
            }
            if (repeats == MAX_REPEATS || !StaleLayoutException.isCauseOf(failure)) {
                return CompletableFuture.<T>failedFuture(StoreFailures.ofAttempts(doubtful, failure));
            }
            boolean doubt = doubtful || StoreFailures.mayHaveTakenEffect(failure);
            return this.layouts.read(queue, failure)
                .exceptionallyCompose(
                        (unread) -> CompletableFuture.failedFuture(StoreFailures.ofAttempts(doubt, unread)))
                .thenCompose((read) -> persist(queue, call, repeats + 1, doubt));
        }).thenCompose(Function.identity());
    }

    private static Set<PartitionTarget> targets(QueueName queue, PartitionLayout partitions, String id) {
        Set<PartitionTarget> targets = new LinkedHashSet<>(partitions.targets(queue, id));
        partitions.all(queue).forEach((partition) -> targets.add(new PartitionTarget(partition, partitions.version())));
        return targets;
    }

    private static <T> CompletableFuture<T> query(List<PartitionTarget> targets, int next,
            Function<PartitionTarget, CompletableFuture<T>> call, Predicate<T> absent) {
        CompletableFuture<T> answer = call.apply(targets.get(next));
        if (next == targets.size() - 1) {
            return answer;
        }
        return answer.thenCompose((found) -> absent.test(found) ? query(targets, next + 1, call, absent)
                : CompletableFuture.completedFuture(found));
    }

    /**
     * Holds the message of a dead letter.
     *
     * @param partition the partition of the dead letter
     * @param deadLetterId its id
     * @param message the message to send
     */
    private record DeadLettered(Partition partition, String deadLetterId, NewMessage message) {
    }

    /**
     * Holds the state of a send of several messages. Its steps run one after another, so
     * it needs no synchronization.
     */
    private final class Sending {

        private final QueueName queue;

        private final List<NewMessage> messages;

        private final @Nullable OfferConditions offer;

        private final RoutedSendResult[] answers;

        /** Whether an attempt that is repeated may have taken effect. */
        private boolean doubtful;

        Sending(QueueName queue, List<NewMessage> messages, @Nullable OfferConditions offer) {
            this.queue = queue;
            this.messages = messages;
            this.offer = offer;
            this.answers = new RoutedSendResult[messages.size()];
        }

        /**
         * Sends the messages that have no result yet to the next target.
         * @param pending their positions
         */
        CompletableFuture<Void> go(PartitionRoute route, int next, List<Integer> pending, int repeats) {
            if (pending.isEmpty()) {
                return CompletableFuture.completedFuture(null);
            }
            PartitionTarget target = route.targets().get(next).with(this.offer);
            List<NewMessage> asked = pending.stream().map(this.messages::get).toList();
            boolean last = next == route.targets().size() - 1;
            CompletableFuture<List<Integer>> unanswered = last
                    ? PartitionRouter.this.store.schedule(target, asked)
                        .thenApply((results) -> record(pending, results))
                    : PartitionRouter.this.store.scheduleIfHeld(target, asked)
                        .thenApply((results) -> recordHeld(pending, results));
            return unanswered.handle((left, failure) -> {
                if (failure == null) {
                    return go(route, next + 1, left, repeats);
                }
                if (repeats < MAX_REPEATS && StaleLayoutException.isCauseOf(failure)) {
                    this.doubtful |= StoreFailures.mayHaveTakenEffect(failure);
                    return again(pending, failure, repeats + 1);
                }
                fail(pending, failure);
                return CompletableFuture.<Void>completedFuture(null);
            }).thenCompose(Function.identity());
        }

        private void fail(List<Integer> pending, Throwable failure) {
            Throwable failed = StoreFailures.ofAttempts(this.doubtful, failure);
            pending.forEach((position) -> this.answers[position] = new RoutedSendResult(null, failed));
        }

        private List<Integer> record(List<Integer> asked, List<SendResult> results) {
            for (int i = 0; i < asked.size(); i++) {
                this.answers[asked.get(i)] = new RoutedSendResult(results.get(i), null);
            }
            return List.of();
        }

        private List<Integer> recordHeld(List<Integer> asked, List<Optional<SendResult>> results) {
            List<Integer> left = new ArrayList<>();
            for (int i = 0; i < asked.size(); i++) {
                if (results.get(i).isPresent()) {
                    this.answers[asked.get(i)] = new RoutedSendResult(results.get(i).get(), null);
                }
                else {
                    left.add(asked.get(i));
                }
            }
            return left;
        }

        /** Starts over with the new layout, as there may be more targets. */
        private CompletableFuture<Void> again(List<Integer> pending, Throwable refusal, int repeats) {
            return PartitionRouter.this.layouts.read(this.queue, refusal)
                .thenApply((read) -> requireJournal(this.queue, read, this.offer))
                .handle((partitions, failure) -> {
                    if (failure != null) {
                        fail(pending, failure);
                        return CompletableFuture.<Void>completedFuture(null);
                    }
                    Map<PartitionRoute, List<Integer>> byRoute = new LinkedHashMap<>();
                    pending.forEach(
                            (position) -> byRoute
                                .computeIfAbsent(PartitionRoute.of(this.queue, partitions, this.messages.get(position)),
                                        (route) -> new ArrayList<>())
                                .add(position));
                    CompletableFuture<Void> done = CompletableFuture.completedFuture(null);
                    for (Map.Entry<PartitionRoute, List<Integer>> entry : byRoute.entrySet()) {
                        done = done.thenCompose((before) -> go(entry.getKey(), 0, entry.getValue(), repeats));
                    }
                    return done;
                })
                .thenCompose(Function.identity());
        }

    }

}

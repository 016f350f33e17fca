package io.delayqueue.web.consume;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;

import io.delayqueue.QueueName;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.store.Partition;
import io.delayqueue.store.WakeUpSignal;
import io.delayqueue.store.WakeUps;
import org.jspecify.annotations.Nullable;

/**
 * Polls a queue for its waiting requests, in order of arrival. A poll claims from one
 * partition after the other for the first request. Once that has its messages, a new poll
 * begins for the next. Between polls it rests until the earliest of: the time that the
 * last claims returned, a wake-up, the safety poll.
 * <p>
 * <strong>Threads.</strong> Confined to the one thread of {@link LongPolling}, except for
 * wake-ups, which set a flag and submit a task to it.
 */
final class QueueLongPoller {

    private static final long FIRST_BACKOFF = Duration.ofMillis(50).toNanos();

    private static final long LONGEST_BACKOFF = Duration.ofMillis(500).toNanos();

    /** Minimum between two polls, even if the store answers "poll again now". */
    private static final long SHORTEST_PAUSE = Duration.ofMillis(1).toNanos();

    private static final CompletableFuture<Void> NOTHING = CompletableFuture.completedFuture(null);

    private final QueueName queue;

    private final ConsumeSettings settings;

    private final LongPolling polls;

    private final Deque<LongPollRequest> line = new ArrayDeque<>();

    private final Map<Partition, WakeUps.Subscription> subscriptions = new HashMap<>();

    private final AtomicBoolean rung = new AtomicBoolean();

    private Runnable cancelTimer = () -> {
    };

    private CompletableFuture<Void> underWay = NOTHING;

    /** Counts the polls. */
    private long look;

    private boolean looking;

    private boolean again;

    private boolean closed;

    private int version;

    private long pause;

    private long backoff = FIRST_BACKOFF;

    /** Failure of the last poll; {@code null} if it succeeded. */
    private @Nullable Throwable outage;

    QueueLongPoller(QueueName queue, ConsumeSettings settings, LongPolling polls) {
        this.queue = queue;
        this.settings = settings;
        this.polls = polls;
    }

    void join(LongPollRequest poll) {
        poll.join(this.look);
        this.line.add(poll);
        Runnable forget = this.polls.schedule(() -> leaveIfOver(poll), Math.max(0, poll.left(now())));
        poll.answer().whenComplete((messages, failure) -> forget.run());
        look();
    }

    /**
     * Answers all requests with no message. Messages that a claim still returns are
     * released.
     */
    void close() {
        this.closed = true;
        this.line.forEach((poll) -> poll.answer().complete(List.of()));
        this.line.clear();
        end();
        this.polls.leave(this.queue, this);
    }

    private void leaveIfOver(LongPollRequest poll) {
        if (!this.looking && poll.isSeenBy(this.look) && this.line.remove(poll)) {
            answerWithNothing(poll);
            endIfEmpty();
        }
    }

    private void look() {
        dropThoseThatLeft();
        if (this.looking || this.line.isEmpty()) {
            this.again = this.looking;
            endIfEmpty();
            return;
        }
        this.looking = true;
        this.again = false;
        this.look++;
        this.pause = Long.MAX_VALUE;
        this.cancelTimer.run();
        lookOn(new HashSet<>());
    }

    private void dropThoseThatLeft() {
        this.line.removeIf((poll) -> poll.answer().isDone());
    }

    /** Polls the remaining partitions, and then those discovered meanwhile. */
    private void lookOn(Set<Partition> done) {
        this.polls.claimer().partitions(this.queue, this.version).whenComplete((all, failure) -> run(() -> {
            if (failure != null) {
                failed(failure);
                return;
            }
            if (!this.subscriptions.isEmpty()) {
                listen(all);
            }
            List<Partition> left = new ArrayList<>(all);
            left.removeAll(done);
            if (left.isEmpty()) {
                foundNothing(all);
                return;
            }
            Collections.rotate(left, ThreadLocalRandom.current().nextInt(left.size()));
            claim(left, 0, done);
        }));
    }

    private void claim(List<Partition> partitions, int next, Set<Partition> done) {
        dropThoseThatLeft();
        LongPollRequest first = this.line.peek();
        if (first == null || next == partitions.size()) {
            done.addAll(partitions);
            lookOn(done);
            return;
        }
        this.underWay = this.polls.claimer()
            .claim(partitions.get(next), first, this.settings)
            .handle((batch, failure) -> {
                boolean mine = run(() -> {
                    if (failure != null) {
                        failed(failure);
                    }
                    else {
                        claimed(first, batch, () -> claim(partitions, next + 1, done),
                                () -> claim(partitions, next, done));
                    }
                });
                return (mine || failure != null) ? NOTHING : this.polls.claimer().giveBack(batch.taken());
            })
            .thenCompose(Function.identity());
    }

    /** Completes when the messages claimed last are delivered or released. */
    CompletableFuture<Void> underWay() {
        return this.underWay;
    }

    private void claimed(LongPollRequest poll, HttpMessageClaimer.Batch batch, Runnable goOn, Runnable repeat) {
        this.backoff = FIRST_BACKOFF;
        this.outage = null;
        this.version = Math.max(this.version, batch.claim().partitionsVersion());
        if (!batch.taken().isEmpty()) {
            this.line.remove(poll);
            if (!poll.answer().complete(batch.taken())) {
                this.underWay = this.polls.claimer().giveBack(batch.taken());
            }
            this.looking = false;
            look();
            return;
        }
        Duration nextIn = batch.claim().nextIn();
        if (batch.leavesMore() && !this.closed) {
            repeat.run();
            return;
        }
        if (nextIn != null) {
            this.pause = Math.min(this.pause, Math.max(SHORTEST_PAUSE, nextIn.toNanos()));
        }
        goOn.run();
    }

    /** Rests, because nothing is due in any partition. */
    private void foundNothing(List<Partition> all) {
        this.looking = false;
        leaveThoseWhoseTimeIsOver();
        if (this.line.isEmpty()) {
            endIfEmpty();
        }
        else if (this.again || this.subscriptions.isEmpty()) {
            // One more poll finds messages sent before the subscription.
            listen(all);
            look();
        }
        else {
            rest(Math.min(this.pause, safetyPoll()));
        }
    }

    private void failed(Throwable failure) {
        this.looking = false;
        Throwable cause = (failure instanceof CompletionException && failure.getCause() != null) ? failure.getCause()
                : failure;
        if (cause instanceof StoreUnavailableException) {
            this.outage = cause;
            leaveThoseWhoseTimeIsOver();
        }
        else {
            this.line.forEach((poll) -> poll.answer().completeExceptionally(cause));
            this.line.clear();
        }
        endIfEmpty();
        if (!this.line.isEmpty()) {
            rest(this.backoff);
            this.backoff = Math.min(this.backoff * 2, LONGEST_BACKOFF);
        }
    }

    private void leaveThoseWhoseTimeIsOver() {
        long now = now();
        this.line.removeIf((poll) -> {
            boolean leaves = poll.isOver(now) && poll.isSeenBy(this.look);
            if (leaves) {
                answerWithNothing(poll);
            }
            return leaves;
        });
    }

    /** Fails the request instead if the last poll failed. */
    private void answerWithNothing(LongPollRequest poll) {
        if (this.outage != null) {
            poll.answer().completeExceptionally(this.outage);
        }
        else {
            poll.answer().complete(List.of());
        }
    }

    private void rest(long nanos) {
        this.cancelTimer.run();
        this.cancelTimer = this.polls.schedule(this::look, nanos);
    }

    private long safetyPoll() {
        long longest = this.settings.safetyPoll().toNanos();
        return ThreadLocalRandom.current().nextLong(longest - longest / 4, longest + 1);
    }

    private void listen(List<Partition> partitions) {
        partitions.forEach((partition) -> this.subscriptions.computeIfAbsent(partition,
                (name) -> this.polls.wakeUps().listen(name, this::heard)));
    }

    /** Runs on a thread of the store's connection. */
    private void heard(WakeUpSignal signal) {
        if (signal.kind() != WakeUpSignal.Kind.KEPT && this.rung.compareAndSet(false, true)) {
            this.polls.execute(() -> {
                this.rung.set(false);
                look();
            });
        }
    }

    private void endIfEmpty() {
        if (this.line.isEmpty() && !this.looking) {
            end();
            this.polls.leave(this.queue, this);
        }
    }

    private void end() {
        this.cancelTimer.run();
        this.subscriptions.values().forEach(WakeUps.Subscription::close);
        this.subscriptions.clear();
    }

    private boolean run(Runnable task) {
        return this.polls.execute(task);
    }

    private long now() {
        return this.polls.claimer().now();
    }

}

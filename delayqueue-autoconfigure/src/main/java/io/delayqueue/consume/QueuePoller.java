package io.delayqueue.consume;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.QueueName;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.store.Partition;
import io.delayqueue.store.StoreFailures;
import io.delayqueue.store.WakeUpSignal;
import io.delayqueue.store.WakeUps;
import org.jspecify.annotations.Nullable;

/**
 * Polls a queue on behalf of the callers that wait for messages, in order of arrival. A
 * poll claims from one partition after the other for the first caller, starting with a
 * random one. Once that has its messages, a new poll begins for the next. Between polls
 * it rests until the earliest of: the time that the last claims returned, a wake-up, the
 * safety poll, the end of a request's wait.
 * <p>
 * <strong>Threads.</strong> Confined to its {@link PollerExecutor}, except for wake-ups,
 * which set a flag and submit a task to it.
 *
 * @param <M> the form in which callers get messages
 */
public final class QueuePoller<M> {

    private static final long FIRST_BACKOFF = Duration.ofMillis(50).toNanos();

    private static final long MAX_BACKOFF = Duration.ofMillis(500).toNanos();

    /** Minimum time between two polls, even if the store reports that more is due now. */
    private static final long MIN_PAUSE = Duration.ofMillis(1).toNanos();

    private static final CompletableFuture<Void> NOTHING = CompletableFuture.completedFuture(null);

    private final QueueName queue;

    private final ConsumeSettings settings;

    private final MessageClaimer<M> claimer;

    private final WakeUps wakeUps;

    private final PollerExecutor thread;

    private final Deque<WaitingClaim<M>> requests = new ArrayDeque<>();

    private final Map<Partition, WakeUps.Subscription> subscriptions = new HashMap<>();

    private final AtomicBoolean woken = new AtomicBoolean();

    private Runnable cancelTimer = () -> {
    };

    private CompletableFuture<Void> underWay = NOTHING;

    /** The number of polls that have begun. */
    private long poll;

    /** The last poll in which a partition answered. */
    private long answered;

    private boolean polling;

    /**
     * Set by any thread that could not submit the next step of a poll, which has
     * therefore ended.
     */
    private volatile boolean interrupted;

    private boolean again;

    private boolean closed;

    /** The latest layout version that a claim returned. */
    private int version;

    /** Claims of the poll, to bound those that only remove messages. */
    private int claims;

    private long pause;

    private long backoff = FIRST_BACKOFF;

    /** The failure since the last answer that says most about the effect. */
    private @Nullable StoreUnavailableException outage;

    public QueuePoller(QueueName queue, ConsumeSettings settings, MessageClaimer<M> claimer, WakeUps wakeUps,
            PollerExecutor thread) {
        this.queue = queue;
        this.settings = settings;
        this.claimer = claimer;
        this.wakeUps = wakeUps;
        this.thread = thread;
    }

    /** Adds a request, and polls. A message that is due now needs no subscription. */
    public void join(WaitingClaim<M> request) {
        guard(() -> {
            request.join(this.poll);
            this.requests.add(request);
            long left = request.left(this.claimer.now());
            // Also repeats an interrupted poll of a request that does not wait.
            Runnable cancel = schedule(this::pollUnlessUnderWay, (left > 0) ? left : safetyPoll());
            request.answer().whenComplete((messages, failure) -> cancel.run());
            poll();
        });
    }

    /**
     * Answers all requests with no message. Messages that a claim still returns are
     * released.
     */
    public void close() {
        this.closed = true;
        this.requests.forEach((request) -> request.answer().complete(List.of()));
        this.requests.clear();
        end();
    }

    /** Completes when the messages claimed last are delivered or released. */
    public CompletableFuture<Void> underWay() {
        return this.underWay;
    }

    private boolean execute(Runnable task) {
        return this.thread.execute(() -> guard(task));
    }

    /**
     * Submits the next step of a poll; returns {@code false} if that was not possible. If
     * the executor fails, the poll has ended: its request fails, and the next signal or
     * timer starts another poll for the others.
     */
    private boolean proceed(@Nullable WaitingClaim<M> request, Runnable step) {
        try {
            return execute(step);
        }
        catch (Throwable ex) {
            this.interrupted = true;
            if (request != null) {
                request.answer().completeExceptionally(ex);
            }
            return false;
        }
    }

    private Runnable schedule(Runnable task, long nanos) {
        return this.thread.schedule(() -> guard(task), nanos);
    }

    /**
     * Runs a task, and fails all requests if it throws: the poll would never end, and
     * later requests would wait for it.
     */
    private void guard(Runnable task) {
        try {
            task.run();
        }
        catch (Throwable ex) {
            fail(ex);
        }
    }

    private void pollUnlessUnderWay() {
        if (!this.polling || this.interrupted) {
            poll();
        }
    }

    private void poll() {
        dropAnswered();
        if (this.interrupted) {
            this.interrupted = false;
            this.polling = false;
        }
        if (this.polling || this.requests.isEmpty()) {
            this.again = this.polling;
            endIfEmpty();
            return;
        }
        this.polling = true;
        this.again = false;
        this.poll++;
        this.claims = 0;
        this.pause = Long.MAX_VALUE;
        this.cancelTimer.run();
        pollOthers(new HashSet<>());
    }

    private void dropAnswered() {
        this.requests.removeIf((request) -> request.answer().isDone());
    }

    /** Polls the remaining partitions, and then those discovered meanwhile. */
    private void pollOthers(Set<Partition> done) {
        WaitingClaim<M> first = this.requests.peek();
        this.claimer.partitions(this.queue, this.version, this.thread)
            .whenComplete((all, failure) -> proceed(first, () -> {
                if (failure != null) {
                    failed(failure, () -> finish(List.of()));
                    return;
                }
                if (!this.subscriptions.isEmpty()) {
                    listen(all);
                }
                List<Partition> left = new ArrayList<>(all);
                left.removeAll(done);
                if (left.isEmpty()) {
                    finish(all);
                    return;
                }
                Collections.rotate(left, ThreadLocalRandom.current().nextInt(left.size()));
                claim(left, 0, done);
            }));
    }

    private void claim(List<Partition> partitions, int next, Set<Partition> done) {
        dropAnswered();
        WaitingClaim<M> first = this.requests.peek();
        if (first == null || next == partitions.size()) {
            done.addAll(partitions);
            pollOthers(done);
            return;
        }
        this.claims++;
        Runnable continuation = () -> claim(partitions, next + 1, done);
        this.underWay = this.claimer.claim(partitions.get(next), first, this.settings, this.thread)
            .handle((batch, failure) -> {
                boolean mine = proceed(first, () -> {
                    if (failure != null) {
                        // Each partition that does not answer takes a full time limit.
                        failed(failure, isAnyOver() ? () -> finish(partitions) : continuation);
                    }
                    else {
                        claimed(first, batch, continuation, () -> claim(partitions, next, done));
                    }
                });
                return (mine || failure != null) ? NOTHING : this.claimer.releaseUnseen(batch.leases(), this.thread);
            })
            .thenCompose(Function.identity());
    }

    private boolean isAnyOver() {
        long now = this.claimer.now();
        return this.requests.stream().anyMatch((request) -> request.left(now) <= 0);
    }

    private void claimed(WaitingClaim<M> request, MessageClaimer.Batch<M> batch, Runnable continuation,
            Runnable repeat) {
        this.backoff = FIRST_BACKOFF;
        this.outage = null;
        this.answered = this.poll;
        this.version = Math.max(this.version, batch.claim().partitionsVersion());
        if (!batch.messages().isEmpty()) {
            this.requests.remove(request);
            if (!request.answer().complete(batch.messages())) {
                this.underWay = this.claimer.releaseUnseen(batch.leases(), this.thread);
            }
            this.polling = false;
            poll();
            return;
        }
        // Messages that no caller may have can take longer than the requests wait, up to
        // a limit.
        if (batch.mayLeaveMore() && !this.closed && (this.claims < MessageClaimer.MAX_EMPTY_CLAIMS || !isAnyOver())) {
            repeat.run();
            return;
        }
        Duration nextIn = batch.claim().nextIn();
        if (nextIn != null) {
            this.pause = Math.min(this.pause, Math.max(MIN_PAUSE, nextIn.toNanos()));
        }
        continuation.run();
    }

    /** Fails all requests, or continues if the store is only unavailable. */
    private void failed(Throwable failure, Runnable continuation) {
        Throwable cause = StoreFailures.unwrap(failure);
        if (cause instanceof StoreUnavailableException unavailable) {
            if (this.outage == null || this.outage.effect() != Effect.UNKNOWN) {
                this.outage = unavailable;
            }
            this.pause = Math.min(this.pause, this.backoff);
            this.backoff = Math.min(this.backoff * 2, MAX_BACKOFF);
            continuation.run();
        }
        else {
            fail(cause);
        }
    }

    private void fail(Throwable failure) {
        this.polling = false;
        this.requests.forEach((request) -> request.answer().completeExceptionally(failure));
        this.requests.clear();
        endIfEmpty();
    }

    /** Ends a poll that found nothing, and rests. */
    private void finish(Collection<Partition> all) {
        this.polling = false;
        long now = this.claimer.now();
        this.requests.removeIf((request) -> {
            boolean leaves = request.left(now) <= 0 && request.isSeenBy(this.poll);
            if (leaves) {
                answerWithNothing(request);
            }
            return leaves;
        });
        if (this.requests.isEmpty()) {
            endIfEmpty();
        }
        else if (this.answered == this.poll && (this.again || this.subscriptions.isEmpty())) {
            // One more poll finds messages sent before the subscription.
            listen(all);
            poll();
        }
        else {
            this.cancelTimer = schedule(this::poll, Math.min(this.pause, safetyPoll()));
        }
    }

    /** Fails the request instead if the store has not answered since it joined. */
    private void answerWithNothing(WaitingClaim<M> request) {
        if (this.outage != null && !request.isSeenBy(this.answered)) {
            request.answer().completeExceptionally(this.outage);
        }
        else {
            request.answer().complete(List.of());
        }
    }

    /** Random, so that waiters that a wake-up has synchronized spread out again. */
    private long safetyPoll() {
        long longest = this.settings.safetyPoll().toNanos();
        return ThreadLocalRandom.current().nextLong(longest - longest / 4, longest + 1);
    }

    private void listen(Collection<Partition> partitions) {
        partitions.forEach((partition) -> this.subscriptions.computeIfAbsent(partition,
                (name) -> this.wakeUps.listen(name, this::onWakeUp)));
    }

    /**
     * Runs on a thread of the store's connection. Ignores signals about primary pollers,
     * because these callers do not become one, and about schedules.
     */
    private void onWakeUp(WakeUpSignal signal) {
        boolean ignored = signal.kind() == WakeUpSignal.Kind.PRIMARY_POLLED
                || signal.kind() == WakeUpSignal.Kind.SCHEDULES_CHANGED;
        if (ignored || !this.woken.compareAndSet(false, true)) {
            return;
        }
        try {
            execute(() -> {
                this.woken.set(false);
                poll();
            });
        }
        catch (Throwable ex) {
            this.woken.set(false);
            throw ex;
        }
    }

    private void endIfEmpty() {
        if (this.requests.isEmpty() && !this.polling) {
            end();
        }
    }

    private void end() {
        this.cancelTimer.run();
        this.subscriptions.values().forEach(WakeUps.Subscription::close);
        this.subscriptions.clear();
        this.thread.idle();
    }

}

package io.delayqueue.web.consume;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Supplier;

import io.delayqueue.PayloadConversionException;
import io.delayqueue.QueueName;
import io.delayqueue.consume.ConsumeSettings;
import io.delayqueue.consume.LeaseSettler;
import io.delayqueue.consume.MessageClaimer;
import io.delayqueue.consume.WaitingClaim;
import io.delayqueue.consume.PollerExecutor;
import io.delayqueue.consume.QueuePoller;
import io.delayqueue.CauseMasking;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.DaemonThreads;
import io.delayqueue.store.WakeUps;
import io.delayqueue.store.envelope.Envelope;
import io.delayqueue.store.envelope.EnvelopeCodec;
import io.delayqueue.store.routing.StoreComponents;
import io.delayqueue.web.http.Json;
import io.delayqueue.web.http.Problem;
import io.delayqueue.web.http.ProblemException;
import org.jspecify.annotations.Nullable;

/**
 * Serves all waiting claims of HTTP consumers on one thread, within the limits of
 * {@link ClaimLimiter}. A {@link QueuePoller} for each queue polls for its first request
 * whenever something may be due, as a listener does.
 * <p>
 * <strong>Threads.</strong> Any may claim. Pollers are confined to the one thread here,
 * which never waits for the store; the limiters are thread-safe. Start and stop set the
 * thread.
 */
public final class LongPolling {

    private static final Duration STOP_LIMIT = Duration.ofSeconds(5);

    private static final Duration ANSWER_LIMIT = Duration.ofMinutes(1);

    /** Default size of the connection pools of clients. */
    private static final int STORE_THREADS = 8;

    private static final int READERS = 2;

    private final HttpConsumerCodecs codecs;

    private final MessageClaimer<ClaimedHttpMessage> claimer;

    private final WakeUps wakeUps;

    private final Function<QueueName, ConsumeSettings> settings;

    private final ClaimLimiter waiting;

    /** Limits requests that do not wait, and end as soon as the store has answered. */
    private final ClaimLimiter polling;

    /** Runs blocking calls of the store. */
    private final RestartableExecutor calls;

    /** Reads claimed messages, which may be large, without blocking other work. */
    private final RestartableExecutor readers;

    /** Confined to the thread. */
    private final Map<QueueName, QueuePoller<ClaimedHttpMessage>> pollers = new HashMap<>();

    private volatile @Nullable ScheduledThreadPoolExecutor thread;

    LongPolling(StoreComponents components, HttpConsumerCodecs codecs, LeaseSettler settler,
            Function<QueueName, ConsumeSettings> settings, ClaimLimits limits) {
        this.codecs = codecs;
        this.claimer = new MessageClaimer<>(components, settler, this::reader, ANSWER_LIMIT, System::nanoTime);
        this.wakeUps = components.wakeUps();
        this.settings = settings;
        this.waiting = new ClaimLimiter(limits, "waiting");
        this.polling = new ClaimLimiter(limits, "being answered");
        boolean blocking = components.messages().isBlocking();
        this.calls = new RestartableExecutor("delayqueue-web-store-", blocking ? STORE_THREADS : 0);
        this.readers = new RestartableExecutor("delayqueue-web-reader-", blocking ? 0 : READERS);
    }

    /** Fails if messages could not be settled, because there is no signature. */
    private CompletableFuture<MessageClaimer.Reader<ClaimedHttpMessage>> reader() {
        return this.codecs.tokens().signer().thenApply((signer) -> (message, term) -> read(message, term, signer));
    }

    private ClaimedHttpMessage read(ClaimedMessage message, MessageClaimer.Term term, LeaseTokenMac signer) {
        Envelope envelope = this.codecs.codec().read(message.envelope());
        String payload = EnvelopeCodec.text(envelope);
        if (!Json.isReadable(payload) || payload.strip().equals("null")) {
            throw new PayloadConversionException(CauseMasking.NO_JSON, null);
        }
        return new ClaimedHttpMessage(message.withoutEnvelope(), signer.text(LeaseToken.of(message)),
                envelope.headers(), payload, term);
    }

    /**
     * Claims messages, or waits for the first.
     * @param limit most messages, 1 to 100
     * @param lease the lease of the messages
     * @param wait longest time to wait; zero to take only messages that are due now
     * @return completes with no message if there was none in time, and fails with a
     * {@link ProblemException} if the node is starting or stopping; completing it ends
     * the wait
     */
    public CompletableFuture<List<ClaimedHttpMessage>> claim(QueueName queue, int limit, Duration lease,
            Duration wait) {
        ClaimLimiter permits = wait.isZero() ? this.polling : this.waiting;
        permits.take(queue);
        WaitingClaim<ClaimedHttpMessage> request = new WaitingClaim<>(limit, lease, now() + wait.toNanos(),
                new Answer(() -> permits.leave(queue)));
        if (!execute(() -> join(queue, request))) {
            reject(request);
        }
        return request.answer();
    }

    private void join(QueueName queue, WaitingClaim<ClaimedHttpMessage> request) {
        if (this.thread == null) {
            reject(request);
            return;
        }
        this.pollers.computeIfAbsent(queue, this::poller).join(request);
    }

    /**
     * Fails a claim that arrives while the node starts or stops. Its caller would take an
     * answer without messages for an empty queue, and claim again at once.
     */
    private static void reject(WaitingClaim<ClaimedHttpMessage> request) {
        request.answer()
            .completeExceptionally(new ProblemException(new Problem(Problem.Kind.NOT_RUNNING,
                    "This node takes no claims while it starts or stops: retry, or call another node")));
    }

    private QueuePoller<ClaimedHttpMessage> poller(QueueName queue) {
        Threads threads = new Threads();
        QueuePoller<ClaimedHttpMessage> poller = new QueuePoller<>(queue, this.settings.apply(queue), this.claimer,
                this.wakeUps, threads);
        threads.idle = () -> this.pollers.remove(queue, poller);
        return poller;
    }

    /**
     * Releases messages that their caller will not see, without counting an attempt.
     * @return completes when they are released; does not fail
     */
    public CompletableFuture<Void> releaseUnseen(List<ClaimedHttpMessage> messages) {
        return this.claimer.releaseUnseen(
                messages.stream().map((message) -> message.claimed().unstartedLease()).toList(), new Threads());
    }

    public long now() {
        return this.claimer.now();
    }

    public int waiting() {
        return this.waiting.taken();
    }

    private boolean execute(Runnable task) {
        ScheduledThreadPoolExecutor current = this.thread;
        try {
            if (current != null) {
                current.execute(task);
                return true;
            }
        }
        catch (RejectedExecutionException ex) {
            // The thread is stopping.
        }
        return false;
    }

    private Runnable schedule(Runnable task, long nanos) {
        ScheduledThreadPoolExecutor current = this.thread;
        try {
            if (current != null) {
                ScheduledFuture<?> scheduled = current.schedule(task, nanos, TimeUnit.NANOSECONDS);
                return () -> scheduled.cancel(false);
            }
        }
        catch (RejectedExecutionException ex) {
            // The thread is stopping.
        }
        return () -> {
        };
    }

    void start() {
        ScheduledThreadPoolExecutor created = new ScheduledThreadPoolExecutor(1,
                DaemonThreads.named("delayqueue-web-polls"));
        created.setRemoveOnCancelPolicy(true);
        created.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        this.calls.start();
        this.readers.start();
        this.thread = created;
    }

    boolean isRunning() {
        return this.thread != null;
    }

    /**
     * Answers all waiting requests, and releases the messages that claims still return.
     */
    void stop() {
        ScheduledThreadPoolExecutor last = this.thread;
        if (last == null) {
            return;
        }
        long end = System.nanoTime() + STOP_LIMIT.toNanos();
        this.thread = null;
        List<QueuePoller<ClaimedHttpMessage>> closed = new ArrayList<>();
        last.execute(() -> {
            closed.addAll(this.pollers.values());
            closed.forEach(QueuePoller::close);
        });
        last.shutdown();
        try {
            if (last.awaitTermination(STOP_LIMIT.toNanos(), TimeUnit.NANOSECONDS)) {
                CompletableFuture.allOf(closed.stream().map(QueuePoller::underWay).toArray(CompletableFuture<?>[]::new))
                    .get(end - System.nanoTime(), TimeUnit.NANOSECONDS);
            }
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
        catch (ExecutionException | TimeoutException ex) {
            // The messages of that claim are left to their leases.
        }
        this.calls.stop();
        this.readers.stop();
    }

    /** Runs the work of one poller. */
    private final class Threads implements PollerExecutor {

        private Runnable idle = () -> {
        };

        @Override
        public boolean execute(Runnable task) {
            return LongPolling.this.execute(task);
        }

        @Override
        public Runnable schedule(Runnable task, long nanos) {
            return LongPolling.this.schedule(task, nanos);
        }

        @Override
        public <T> CompletableFuture<T> call(Supplier<CompletableFuture<T>> call) {
            return LongPolling.this.calls.call(call);
        }

        @Override
        public boolean read(Runnable task) {
            LongPolling.this.readers.execute(task);
            return true;
        }

        @Override
        public void idle() {
            this.idle.run();
        }

    }

    /**
     * Releases the permit before it completes, so that the caller can claim again at
     * once.
     */
    private static final class Answer extends CompletableFuture<List<ClaimedHttpMessage>> {

        private final Runnable leave;

        private final AtomicBoolean left = new AtomicBoolean();

        Answer(Runnable leave) {
            this.leave = leave;
        }

        @Override
        public boolean complete(List<ClaimedHttpMessage> messages) {
            leave();
            return super.complete(messages);
        }

        @Override
        public boolean completeExceptionally(Throwable failure) {
            leave();
            return super.completeExceptionally(failure);
        }

        private void leave() {
            if (this.left.compareAndSet(false, true)) {
                this.leave.run();
            }
        }

    }

}

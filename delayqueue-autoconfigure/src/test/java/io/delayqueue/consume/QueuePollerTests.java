package io.delayqueue.consume;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.QueueName;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.fixtures.store.TemplateFakeStore;
import io.delayqueue.store.DeadLetterPublisher;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.MessageEventRecorderFactory;
import io.delayqueue.store.PartitionLayoutStore;
import io.delayqueue.store.WakeUps;
import io.delayqueue.store.routing.PartitionLayouts;
import io.delayqueue.store.routing.StoreComponents;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A poll that fails, in whatever way, neither blocks the next one nor repeats at once.
 */
class QueuePollerTests {

    private static final Duration LONG = Duration.ofSeconds(30);

    private static final ConsumeSettings SETTINGS = new ConsumeSettings(LONG, 3, 2, ExpiryPolicy.DROP, LONG,
            (failures) -> Duration.ZERO);

    private final TemplateFakeStore store = new TemplateFakeStore(() -> 5_000_000);

    private final Tasks tasks = new Tasks();

    @Test
    void aTaskThatThrowsFailsItsRequestsAndNotTheNextOnes() {
        QueuePoller<String> poller = poller((partition, listener) -> {
            throw new InternalError("no thread");
        });
        CompletableFuture<List<String>> first = join(poller);
        CompletableFuture<List<String>> second = join(poller);
        this.tasks.run();

        assertThat(List.of(first, second)).allSatisfy((answer) -> assertThat(answer).failsWithin(Duration.ZERO)
            .withThrowableThat()
            .withRootCauseInstanceOf(InternalError.class));
        assertThat(this.tasks.idle).isPositive();

        this.store.put("q", "a", 0, 0, false, new byte[0]);
        CompletableFuture<List<String>> third = join(poller);
        this.tasks.run();

        assertThat(third).isCompletedWithValue(List.of("a"));
    }

    @Test
    void aRequestFailsIfThePollCannotEvenBegin() {
        QueuePoller<String> poller = poller(this.store);
        this.tasks.broken = new InternalError("no thread");
        CompletableFuture<List<String>> first = join(poller);

        assertThat(first).failsWithin(Duration.ZERO).withThrowableThat().withRootCauseInstanceOf(InternalError.class);

        this.tasks.broken = null;
        this.store.put("q", "a", 0, 0, false, new byte[0]);
        CompletableFuture<List<String>> second = join(poller);
        this.tasks.run();

        assertThat(second).isCompletedWithValue(List.of("a"));
    }

    @Test
    void aReaderWithoutMemoryFailsTheRequestAtOnce() {
        this.store.put("q", "a", 0, 0, false, new byte[0]);
        QueuePoller<String> poller = poller(this.store, (message, term) -> {
            throw new OutOfMemoryError();
        });
        CompletableFuture<List<String>> answer = join(poller);
        this.tasks.run();

        assertThat(answer).failsWithin(Duration.ZERO)
            .withThrowableThat()
            .withRootCauseInstanceOf(OutOfMemoryError.class);
        assertThat(this.store.isLeased("q", "a")).isFalse();
    }

    @Test
    void aStartThatIsNotRecordedIsTriedAgainAfterABackoffThatGrows() {
        this.store.put("q", "a", 0, 1, true, new byte[0]);
        this.store.put("q", "b", 0, 1, true, new byte[0]);
        this.store.failOn("start", new StoreUnavailableException("away", Effect.UNKNOWN, null));
        CompletableFuture<List<String>> answer = join(poller(this.store));
        this.tasks.delays.clear();
        for (int i = 1; i <= 3; i++) {
            this.tasks.run();
            assertThat(Collections.frequency(this.store.calls, "claim q 1")).isEqualTo(i);
            assertThat(this.store.isLeased("q", "a")).isFalse();
            assertThat(this.store.isLeased("q", "b")).isFalse();
            this.tasks.timer.run();
        }
        this.store.recover();
        this.tasks.run();

        assertThat(this.tasks.delays).containsExactly(50L, 100L, 200L);
        assertThat(answer).isCompletedWithValueMatching((messages) -> messages.size() == 1);
    }

    /** The executor fails at the answer of the layout, and then of the claim. */
    @ParameterizedTest
    @ValueSource(ints = { 1, 2 })
    void aPollWhoseNextStepIsNotSubmittedFailsItsRequestAndTheNextSignalStartsAnother(int step) {
        QueuePoller<String> poller = poller(this.store);
        CompletableFuture<List<String>> waiting = join(poller);
        this.tasks.run();
        this.store.put("q", "a", 0, 0, false, new byte[0]);
        this.tasks.accepted = step;
        this.store.wake();
        this.tasks.run();

        assertThat(waiting).failsWithin(Duration.ZERO).withThrowableThat().withRootCauseInstanceOf(InternalError.class);
        assertThat(this.store.isLeased("q", "a")).isFalse();

        this.tasks.accepted = Integer.MAX_VALUE;
        CompletableFuture<List<String>> next = join(poller);
        this.tasks.run();

        assertThat(next).isCompletedWithValue(List.of("a"));
    }

    @Test
    void aWakeUpThatIsNotSubmittedDoesNotPreventTheNextOne() {
        CompletableFuture<List<String>> waiting = join(poller(this.store));
        this.tasks.run();
        this.store.put("q", "a", 0, 0, false, new byte[0]);
        this.tasks.accepted = 0;
        assertThatExceptionOfType(InternalError.class).isThrownBy(this.store::wake);
        this.tasks.accepted = Integer.MAX_VALUE;

        this.store.wake();
        this.tasks.run();

        assertThat(waiting).isCompletedWithValue(List.of("a"));
    }

    /** No other timer would: the request takes only messages that are due now. */
    @Test
    void aRequestThatDoesNotWaitIsPolledForAgainIfThePollBeforeItsOwnIsInterrupted() {
        QueuePoller<String> poller = poller(this.store);
        join(poller);
        CompletableFuture<List<String>> answer = join(poller, 0);
        this.tasks.accepted = 0;
        this.tasks.run();
        this.tasks.accepted = Integer.MAX_VALUE;
        assertThat(answer).isNotDone();
        this.store.put("q", "a", 0, 0, false, new byte[0]);

        List.copyOf(this.tasks.limits).forEach(Runnable::run);
        this.tasks.run();

        assertThat(answer).isCompletedWithValue(List.of("a"));
    }

    private CompletableFuture<List<String>> join(QueuePoller<String> poller) {
        return join(poller, LONG.toNanos());
    }

    private CompletableFuture<List<String>> join(QueuePoller<String> poller, long deadline) {
        WaitingClaim<String> request = new WaitingClaim<>(1, LONG, deadline, new CompletableFuture<>());
        poller.join(request);
        return request.answer();
    }

    private QueuePoller<String> poller(WakeUps wakeUps) {
        return poller(wakeUps, (message, term) -> message.lease().id());
    }

    private QueuePoller<String> poller(WakeUps wakeUps, MessageClaimer.Reader<String> reader) {
        StoreComponents components = new StoreComponents(this.store, this.store, wakeUps,
                new PartitionLayouts(PartitionLayoutStore.NONE, (queue) -> 0, () -> 0));
        LeaseSettler settler = new LeaseSettler(components,
                new DeadLetterPublisher(MessageEventRecorderFactory.NONE, (event) -> {
                }, Runnable::run));
        MessageClaimer<String> claimer = new MessageClaimer<>(components, settler,
                () -> CompletableFuture.completedFuture(reader), LONG, () -> 0);
        return new QueuePoller<>(new QueueName("q"), SETTINGS, claimer, wakeUps, this.tasks);
    }

    /** Runs tasks when the test says so, and keeps the last timer that is not a limit. */
    private static final class Tasks implements PollerExecutor {

        private final Deque<Runnable> queue = new ArrayDeque<>();

        /** Milliseconds of the timers shorter than any limit. */
        private final List<Long> delays = new ArrayList<>();

        private Runnable timer = () -> {
        };

        /** Timers that are limits. */
        private final List<Runnable> limits = new ArrayList<>();

        private Error broken;

        /** The number of tasks to accept before all others are rejected. */
        private int accepted = Integer.MAX_VALUE;

        private int idle;

        void run() {
            for (Runnable task = this.queue.poll(); task != null; task = this.queue.poll()) {
                task.run();
            }
        }

        @Override
        public boolean execute(Runnable task) {
            if (this.accepted-- <= 0) {
                throw new InternalError("no memory");
            }
            return this.queue.add(task);
        }

        @Override
        public Runnable schedule(Runnable task, long nanos) {
            if (this.broken != null) {
                throw this.broken;
            }
            if (nanos < LONG.toNanos() / 2) {
                this.delays.add(nanos / 1_000_000);
                this.timer = task;
            }
            else {
                this.limits.add(task);
            }
            return () -> {
            };
        }

        @Override
        public boolean read(Runnable task) {
            task.run();
            return true;
        }

        @Override
        public void idle() {
            this.idle++;
        }

    }

}

package io.delayqueue.web.dashboard;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.delayqueue.DeadLetterOperations;
import io.delayqueue.DeadLetterPage;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.ScheduleDefinition;
import io.delayqueue.ScheduleOperations;
import io.delayqueue.SchedulePage;
import io.delayqueue.ScheduleStatus;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.web.dashboard.OccurrenceStatus.State;
import io.delayqueue.web.dashboard.ScheduleOverviewCache.Schedules;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.ArgumentMatchers.anyString;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.reset;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;

/** Checks the limits of the reads for the list of all schedules. */
class ScheduleOverviewCacheTests {

    private static final Instant NOW = Instant.parse("2030-01-01T00:00:00Z");

    private static final Duration LIMIT = Duration.ofMinutes(1);

    private final DelayQueueOperations operations = mock();

    private final AtomicLong nanos = new AtomicLong(-7);

    private final ScheduleOverviewCache cache = new ScheduleOverviewCache(this.operations,
            new OccurrenceStatusFinder(this.operations, null), this.nanos::get);

    private ScheduleOperations queue(String queue, @Nullable String nextCursor, ScheduleStatus... schedules) {
        ScheduleOperations some = mock();
        given(some.list(null, 20)).willReturn(new SchedulePage(List.of(schedules), nextCursor));
        given(this.operations.schedules(queue)).willReturn(some);
        return some;
    }

    private static ScheduleStatus schedule(String queue, String name, @Nullable Duration next) {
        return new ScheduleStatus(queue, ScheduleDefinition.cron(name, "@daily").build(), "{}", null, false,
                (next != null) ? NOW.plus(next) : null, null, 0, Map.of(), List.of());
    }

    /** Adds a queue whose schedule has sent an occurrence, which has ended. */
    private void queueWithOutcome(String queue) {
        queue(queue, null, new ScheduleStatus(queue, ScheduleDefinition.cron("of-" + queue, "@daily").build(), "{}",
                null, false, NOW.plusSeconds(60), NOW, 1, Map.of(), List.of()));
        DeadLetterOperations none = mock();
        given(none.list(null, 100)).willReturn(new DeadLetterPage(List.of(), null));
        given(this.operations.deadLetters(queue)).willReturn(none);
    }

    private static Map<String, State> outcomes(Schedules read) {
        return read.entries()
            .stream()
            .filter((entry) -> entry.outcome() != null)
            .collect(Collectors.toMap((entry) -> entry.schedule().name(), (entry) -> entry.outcome().state()));
    }

    private static StoreUnavailableException away() {
        return new StoreUnavailableException("no answer", Effect.NONE, new IllegalStateException());
    }

    private static List<String> names(Schedules read) {
        return read.entries().stream().map((entry) -> entry.schedule().name()).toList();
    }

    @Test
    void theScheduleThatIsDueNextIsFirstWhateverItsQueue() {
        queue("a", null, schedule("a", "a-5", Duration.ofMinutes(5)), schedule("a", "a-never", null));
        queue("b", null, schedule("b", "b-1", Duration.ofMinutes(1)));

        assertThat(names(this.cache.get(List.of("a", "b")))).containsExactly("b-1", "a-5", "a-never");
    }

    @Test
    void queuesAreReadOnceInTenSeconds() {
        ScheduleOperations some = queue("a", null, schedule("a", "one", Duration.ZERO));
        this.cache.get(List.of("a"));
        this.nanos.addAndGet(TimeUnit.SECONDS.toNanos(9));
        this.cache.get(List.of("a"));
        verify(some, times(1)).list(null, 20);
        this.nanos.addAndGet(TimeUnit.SECONDS.toNanos(1));
        this.cache.get(List.of("a"));
        verify(some, times(2)).list(null, 20);
    }

    /** Each read takes 90 ms, and a request reads for 200 ms. */
    @Test
    void manyQueuesAreReadInPartsAndTheLastCompleteReadIsShownMeanwhile() {
        List<String> queues = slowQueues(7, Duration.ofMillis(90));

        Schedules first = this.cache.get(queues);
        Schedules second = this.cache.get(queues);
        Schedules third = this.cache.get(queues);
        this.nanos.addAndGet(TimeUnit.SECONDS.toNanos(10));
        Schedules again = this.cache.get(queues);

        assertThat(names(first)).containsExactly("of-q-0", "of-q-1", "of-q-2");
        assertThat(first.left()).isEqualTo(4);
        assertThat(second.left()).isEqualTo(1);
        assertThat(third.left()).isZero();
        assertThat(names(third)).hasSize(7);
        assertThat(names(again)).hasSize(7);
        assertThat(again.left()).isEqualTo(4);
        assertThat(this.cache.age(again)).isGreaterThan(TimeUnit.SECONDS.toNanos(10));
    }

    /** Adds queues of one schedule each. A read of one takes the duration. */
    private List<String> slowQueues(int number, Duration read) {
        List<String> queues = IntStream.range(0, number).mapToObj((i) -> "q-" + i).toList();
        queues.forEach((queue) -> {
            ScheduleStatus one = schedule(queue, "of-" + queue, Duration.ofMinutes(1));
            given(queue(queue, null).list(null, 20)).willAnswer((call) -> {
                this.nanos.addAndGet(read.toNanos());
                return new SchedulePage(List.of(one), null);
            });
        });
        return queues;
    }

    @Test
    void aReadThatNoRequestContinuesForTenSecondsIsDropped() {
        List<String> queues = slowQueues(4, Duration.ofMillis(90));
        this.cache.get(queues);
        this.nanos.addAndGet(TimeUnit.SECONDS.toNanos(10));

        Schedules again = this.cache.get(queues);

        assertThat(again.left()).isEqualTo(1);
        assertThat(this.cache.age(again)).isEqualTo(TimeUnit.MILLISECONDS.toNanos(270));
    }

    @Test
    void theAgeIsThatOfTheFirstQueueAlsoIfAReadTakesLongerThanTenSeconds() {
        List<String> queues = slowQueues(3, Duration.ofSeconds(9));

        assertThat(this.cache.get(queues).left()).isEqualTo(2);
        assertThat(this.cache.get(queues).left()).isEqualTo(1);
        Schedules last = this.cache.get(queues);

        assertThat(last.left()).isZero();
        assertThat(this.cache.age(last)).isEqualTo(TimeUnit.SECONDS.toNanos(27));
    }

    @Test
    void queuesOfWhichSomeSchedulesAreLeftOutAreNamed() {
        List<String> queues = IntStream.range(0, 12).mapToObj((i) -> "q-%02d".formatted(i)).toList();
        for (int i = 0; i < 12; i++) {
            String queue = queues.get(i);
            Duration next = Duration.ofMinutes(i);
            queue(queue, (i == 3) ? "more" : null,
                    IntStream.range(0, 20)
                        .mapToObj((j) -> schedule(queue, "s-" + j, next))
                        .toArray(ScheduleStatus[]::new));
        }

        Schedules read = this.cache.get(queues);

        assertThat(read.entries()).hasSize(200);
        assertThat(read.more()).containsExactly("q-03", "q-10", "q-11");
    }

    @Test
    void aQueueThatCannotBeReadIsNamedAndTheOthersAreShown() {
        queue("a", null, schedule("a", "one", Duration.ZERO));
        given(this.operations.schedules("broken")).willThrow(new StoreRefusedException("WRONGTYPE", Effect.NONE, null));

        Schedules read = this.cache.get(List.of("broken", "a"));

        assertThat(names(read)).containsExactly("one");
        assertThat(read.unread()).containsExactly("broken");
    }

    @Test
    void aStoreThatIsAwayFailsTheReadAndTheNextOneTriesAgain() {
        given(this.operations.schedules("a")).willThrow(away());
        assertThatThrownBy(() -> this.cache.get(List.of("a"))).isInstanceOf(StoreUnavailableException.class);
        reset(this.operations);
        queue("a", null, schedule("a", "one", Duration.ZERO));

        assertThat(names(this.cache.get(List.of("a")))).containsExactly("one");
    }

    @Test
    void outcomesAreReadInPartsToo() {
        List<String> queues = List.of("a", "b", "c");
        queues.forEach(this::queueWithOutcome);
        given(this.operations.find(anyString(), anyString())).willAnswer((call) -> {
            this.nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(150));
            return Optional.empty();
        });

        Schedules first = this.cache.get(queues);
        Schedules second = this.cache.get(queues);

        assertThat(names(first)).containsExactly("of-a", "of-b", "of-c");
        assertThat(first.left()).isEqualTo(1);
        assertThat(outcomes(first)).isEqualTo(Map.of("of-a", State.ENDED, "of-b", State.ENDED));
        assertThat(second.left()).isZero();
        assertThat(outcomes(second)).isEqualTo(Map.of("of-a", State.ENDED, "of-b", State.ENDED, "of-c", State.ENDED));
        verify(this.operations, times(3)).find(anyString(), anyString());
    }

    @Test
    void schedulesOfAQueueWhoseOutcomesCannotBeReadAreShownWithoutThem() {
        queueWithOutcome("a");
        queueWithOutcome("broken");
        given(this.operations.find(eq("broken"), anyString()))
            .willThrow(new StoreRefusedException("WRONGTYPE", Effect.NONE, null));

        Schedules read = this.cache.get(List.of("a", "broken"));

        assertThat(names(read)).containsExactly("of-a", "of-broken");
        assertThat(outcomes(read)).isEqualTo(Map.of("of-a", State.ENDED));
        assertThat(read.left()).isZero();
    }

    @Test
    void theLastKnownSchedulesAreShownWhileTheStoreIsAway() {
        queueWithOutcome("a");
        Schedules known = this.cache.get(List.of("a"));
        this.nanos.addAndGet(TimeUnit.SECONDS.toNanos(11));
        given(this.operations.find(anyString(), anyString())).willThrow(away());

        Schedules shown = this.cache.get(List.of("a"));

        assertThat(shown).isEqualTo(known);
        assertThat(this.cache.age(shown)).isEqualTo(TimeUnit.SECONDS.toNanos(11));
    }

    @Test
    void aRequestDoesNotWaitForTheCallOfAnother() {
        Hanging hanging = new Hanging();
        given(queue("a", null).list(null, 20)).willAnswer((call) -> hanging.page(schedule("a", "one", Duration.ZERO)));
        CompletableFuture<Schedules> reads = reads();
        hanging.awaitCall();

        CompletableFuture<Schedules> other = reads();

        assertThat(other).succeedsWithin(LIMIT).returns(1, Schedules::left);
        assertThat(reads).isNotDone();
        hanging.answer();
        assertThat(reads).succeedsWithin(LIMIT).returns(0, Schedules::left);
        assertThat(hanging.calls()).isEqualTo(1);
    }

    @Test
    void aChangeDoesNotWaitForACallAndItsResultIsNotKept() {
        Hanging hanging = new Hanging();
        given(queue("a", null).list(null, 20)).willAnswer((call) -> hanging.page(schedule("a", "one", Duration.ZERO)));
        CompletableFuture<Schedules> reads = reads();
        hanging.awaitCall();

        assertThat(CompletableFuture.runAsync(this.cache::clear, ScheduleOverviewCacheTests::onThread))
            .succeedsWithin(LIMIT);

        hanging.answer();
        assertThat(reads).succeedsWithin(LIMIT);
        this.cache.get(List.of("a"));
        assertThat(hanging.calls()).isEqualTo(2);
    }

    private CompletableFuture<Schedules> reads() {
        return CompletableFuture.supplyAsync(() -> this.cache.get(List.of("a")), ScheduleOverviewCacheTests::onThread);
    }

    /** The common pool may have one thread only. */
    private static void onThread(Runnable task) {
        new Thread(task).start();
    }

    /** Holds calls of the store back until they are answered. */
    private static final class Hanging {

        private final Semaphore arrived = new Semaphore(0);

        private final CountDownLatch answered = new CountDownLatch(1);

        private final AtomicInteger calls = new AtomicInteger();

        SchedulePage page(ScheduleStatus one) throws InterruptedException {
            this.calls.incrementAndGet();
            this.arrived.release();
            this.answered.await();
            return new SchedulePage(List.of(one), null);
        }

        void awaitCall() {
            this.arrived.acquireUninterruptibly();
        }

        void answer() {
            this.answered.countDown();
        }

        int calls() {
            return this.calls.get();
        }

    }

}

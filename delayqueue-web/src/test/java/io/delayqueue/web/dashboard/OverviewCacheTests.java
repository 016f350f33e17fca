package io.delayqueue.web.dashboard;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.admin.DelayQueueInspector;
import io.delayqueue.admin.QueueOverview;
import io.delayqueue.admin.QueueOverviews;
import io.delayqueue.admin.QueuePage;
import io.delayqueue.store.RemoteConsumerQueues;
import io.delayqueue.store.ServerIssue;
import io.delayqueue.store.ServerIssue.Kind;
import io.delayqueue.store.ServerMonitor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.willAnswer;
import static org.mockito.BDDMockito.willThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;

class OverviewCacheTests {

    private static final int CALLERS = 8;

    private final DelayQueueInspector inspector = mock();

    private final ServerMonitor server = mock();

    private final AtomicLong clock = new AtomicLong(Long.MAX_VALUE - 5);

    private final AtomicInteger reads = new AtomicInteger();

    private final ExecutorService threads = Executors.newFixedThreadPool(CALLERS);

    private final OverviewCache cache = new OverviewCache(this.inspector, this.server,
            new AlertEvaluator(new RemoteConsumerQueues(0, this.clock::get), null), this.clock::get,
            Duration.ofSeconds(30));

    @BeforeEach
    void answer() {
        given(this.inspector.queues(any(), anyInt())).willAnswer((call) -> {
            this.reads.incrementAndGet();
            return new QueuePage(List.of("orders"), null);
        });
        given(this.inspector.overviews(any())).willReturn(new QueueOverviews(List
            .of(new QueueOverview("orders", 1, 0, 0, 0, 0, 0, 0, null, null, false, null, Instant.ofEpochSecond(7))),
                Map.of()));
    }

    @BeforeEach
    void nothingWrong() {
        given(this.server.check()).willReturn(CompletableFuture.completedFuture(List.of()));
    }

    @AfterEach
    void end() {
        this.threads.shutdownNow();
    }

    @Test
    void readsAtMostOnceASecond() {
        OverviewCache.Snapshot first = this.cache.get();
        this.clock.addAndGet(TimeUnit.MILLISECONDS.toNanos(999));
        assertThat(this.cache.get()).isSameAs(first);
        this.clock.addAndGet(TimeUnit.MILLISECONDS.toNanos(1));
        assertThat(this.cache.get()).isNotSameAs(first);
        assertThat(this.reads).hasValue(2);
    }

    @Test
    void readsOnceForAllRequestsWhileRedisHangs() throws Exception {
        CountDownLatch hanging = new CountDownLatch(1);
        CountDownLatch answer = new CountDownLatch(1);
        willAnswer((call) -> {
            this.reads.incrementAndGet();
            hanging.countDown();
            assertThat(answer.await(30, TimeUnit.SECONDS)).isTrue();
            throw new StoreUnavailableException("It hangs", Effect.NONE, null);
        }).given(this.inspector).queues(any(), anyInt());
        List<Future<OverviewCache.Snapshot>> looks = new ArrayList<>();
        looks.add(this.threads.submit(this.cache::get));
        assertThat(hanging.await(30, TimeUnit.SECONDS)).isTrue();
        AtomicInteger come = new AtomicInteger();
        for (int i = 1; i < CALLERS; i++) {
            looks.add(this.threads.submit(() -> {
                come.incrementAndGet();
                return this.cache.get();
            }));
        }
        await().until(() -> come.get() == CALLERS - 1);
        // Blocks if a request holds the lock while it waits for Redis.
        CompletableFuture.runAsync(() -> {
            synchronized (this.cache) {
                come.incrementAndGet();
            }
        }).get(60, TimeUnit.SECONDS);
        this.clock.addAndGet(TimeUnit.MINUTES.toNanos(1));
        answer.countDown();
        for (Future<OverviewCache.Snapshot> look : looks) {
            assertThat(look).failsWithin(30, TimeUnit.SECONDS)
                .withThrowableThat()
                .havingRootCause()
                .isInstanceOf(StoreUnavailableException.class);
        }
        assertThat(this.reads).hasValue(1);
    }

    @Test
    void waitsForNoMoreThanFiveCommandsAndTenSeconds() {
        assertThat(OverviewCache.maxWait(Duration.ofSeconds(1))).isEqualTo(Duration.ofSeconds(5));
        assertThat(OverviewCache.maxWait(Duration.ofSeconds(5))).isEqualTo(Duration.ofSeconds(10));
        assertThat(OverviewCache.maxWait(Duration.ofHours(1))).isEqualTo(Duration.ofSeconds(10));
    }

    /** Container threads are needed for other requests too. */
    @Test
    void aRequestWaitsALimitedTime() {
        CountDownLatch answer = new CountDownLatch(1);
        willAnswer((call) -> {
            this.reads.incrementAndGet();
            assertThat(answer.await(30, TimeUnit.SECONDS)).isTrue();
            return new QueuePage(List.of("orders"), null);
        }).given(this.inspector).queues(any(), anyInt());
        OverviewCache hurried = new OverviewCache(this.inspector, this.server,
                new AlertEvaluator(new RemoteConsumerQueues(0, this.clock::get), null), this.clock::get,
                Duration.ofMillis(50));

        for (int i = 0; i < 2; i++) {
            assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(hurried::get)
                .withMessage("The queues could not be read within 250 ms");
        }
        assertThat(hurried.status()).isEqualTo(StoreStatus.ANSWERS);
        this.clock.addAndGet(TimeUnit.MILLISECONDS.toNanos(900));
        assertThat(hurried.status()).isEqualTo(new StoreStatus(Duration.ofMillis(900), null));
        answer.countDown();

        await().ignoreExceptions().until(() -> hurried.get().read().overviews().size() == 1);
        assertThat(this.reads).hasValue(1);
    }

    /** A process at its limit of threads recovers without a restart. */
    @Test
    void readsAgainOnceAThreadCanBeStarted() {
        AtomicBoolean exhausted = new AtomicBoolean(true);
        OverviewCache limited = new OverviewCache(this.inspector, this.server,
                new AlertEvaluator(new RemoteConsumerQueues(0, this.clock::get), null), this.clock::get,
                Duration.ofSeconds(30), (task) -> {
                    if (exhausted.get()) {
                        throw new OutOfMemoryError("unable to create native thread");
                    }
                    task.run();
                });
        assertThatExceptionOfType(IllegalStateException.class).isThrownBy(limited::get)
            .withRootCauseInstanceOf(OutOfMemoryError.class);

        exhausted.set(false);
        assertThat(limited.get().read().overviews()).hasSize(1);
    }

    @Test
    void showsTheQueuesIfTheListenersAreUnknown() {
        given(this.inspector.overviews(any())).willReturn(new QueueOverviews(
                List.of(new QueueOverview("orders", 1, 5, 5, 0, 0, 0, 0, Instant.EPOCH, Duration.ofSeconds(30), false,
                        null, Instant.ofEpochSecond(7))),
                Map.of("broken", new StoreRefusedException("WRONGTYPE", null))));
        given(this.inspector.nodes()).willThrow(new StoreUnavailableException("away", Effect.NONE, null));

        assertThat(this.cache.get().alerts()).extracting(Alert::title, Alert::queue)
            .containsExactly(tuple("The queue cannot be read", "broken"));
    }

    @Test
    void cachesAFailureLikeAResult() {
        given(this.inspector.overviews(any()))
            .willThrow(new StoreUnavailableException("It is away", Effect.NONE, null));
        assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(this.cache::get);
        assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(this.cache::get);
        assertThat(this.reads).hasValue(1);
        this.clock.addAndGet(TimeUnit.SECONDS.toNanos(1));
        assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(this.cache::get);
        assertThat(this.reads).hasValue(2);
    }

    @Test
    void anOutageBeginsWithTheFirstReadThatFailsAndEndsWithAnAnswer() {
        this.cache.get();
        assertThat(this.cache.status()).isEqualTo(StoreStatus.ANSWERS);
        for (int second = 1; second <= 3; second++) {
            this.clock.addAndGet(TimeUnit.SECONDS.toNanos(1));
            willThrow(new StoreUnavailableException("Failure " + second, Effect.NONE, null)).given(this.inspector)
                .overviews(any());
            assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(this.cache::get);
            assertThat(this.cache.status())
                .isEqualTo(new StoreStatus(Duration.ofSeconds(second - 1), "Failure " + second));
        }
        this.clock.addAndGet(TimeUnit.SECONDS.toNanos(1));
        willThrow(new StoreRefusedException("WRONGTYPE", null)).given(this.inspector).overviews(any());
        assertThatExceptionOfType(StoreRefusedException.class).isThrownBy(this.cache::get);
        assertThat(this.cache.status()).isEqualTo(StoreStatus.ANSWERS);
    }

    /** A page whose other requests hang asks for the status only. */
    @Test
    void theStatusKnowsOfAnOutageThatBeganAfterTheLastRead() {
        this.cache.get();
        CountDownLatch answer = new CountDownLatch(1);
        willAnswer((call) -> {
            this.reads.incrementAndGet();
            assertThat(answer.await(30, TimeUnit.SECONDS)).isTrue();
            return new QueuePage(List.of(), null);
        }).given(this.inspector).queues(any(), anyInt());
        this.clock.addAndGet(TimeUnit.MILLISECONDS.toNanos(999));
        this.cache.status();
        this.clock.addAndGet(TimeUnit.MILLISECONDS.toNanos(1));
        assertThat(this.cache.status()).isEqualTo(StoreStatus.ANSWERS);
        this.clock.addAndGet(TimeUnit.MILLISECONDS.toNanos(900));
        assertThat(this.cache.status()).isEqualTo(new StoreStatus(Duration.ofMillis(900), null));
        answer.countDown();

        await().until(() -> this.cache.status().equals(StoreStatus.ANSWERS));
        assertThat(this.reads).hasValue(2);
    }

    @Test
    void checksTheServerPeriodicallyWithoutWaiting() {
        CompletableFuture<List<ServerIssue>> firstCheck = new CompletableFuture<>();
        CompletableFuture<List<ServerIssue>> secondCheck = new CompletableFuture<>();
        given(this.server.check()).willReturn(firstCheck)
            .willReturn(secondCheck)
            .willThrow(new StoreUnavailableException("It is away", Effect.NONE, null));
        assertThat(this.cache.get().alerts()).isEmpty();
        firstCheck.complete(List.of(new ServerIssue(Kind.EVICTS, "", "allkeys-lru")));
        this.clock.addAndGet(TimeUnit.SECONDS.toNanos(19));
        String title = "Redis evicts messages when it is full";
        assertThat(this.cache.get().alerts()).extracting(Alert::title).contains(title);
        this.clock.addAndGet(TimeUnit.SECONDS.toNanos(1));
        assertThat(this.cache.get().alerts()).as("until the next check has ended")
            .extracting(Alert::title)
            .contains(title);
        verify(this.server, times(2)).check();
        secondCheck.complete(List.of(new ServerIssue(Kind.PUBLISH_DENIED, "", "")));
        this.clock.addAndGet(TimeUnit.SECONDS.toNanos(1));
        assertThat(this.cache.get().alerts()).extracting(Alert::title)
            .contains("The Redis user may not publish wake-ups")
            .doesNotContain(title);
        this.clock.addAndGet(TimeUnit.SECONDS.toNanos(20));
        assertThat(this.cache.get().alerts()).as("after a check that failed")
            .extracting(Alert::title)
            .containsExactly("The clock of Redis has jumped");
        verify(this.server, times(3)).check();
    }

}

package io.delayqueue.web.api;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

import io.delayqueue.CauseGroup;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.admin.DeadLetterCauses;
import io.delayqueue.admin.DelayQueueInspector;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.mockito.ArgumentMatchers.anyBoolean;
import static org.mockito.ArgumentMatchers.anyString;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;

/**
 * Checks when the dead letters of a queue are grouped again, and what requests get
 * meanwhile.
 */
class DeadLetterCauseCacheTests {

    private static final String QUEUE = "orders";

    private final DelayQueueInspector inspector = mock();

    private final AtomicLong nanos = new AtomicLong(-7);

    private final DeadLetterCauseCache cache = new DeadLetterCauseCache(this.inspector, this.nanos::get,
            Duration.ofMinutes(1));

    private final CountDownLatch walking = new CountDownLatch(1);

    private final CountDownLatch goOn = new CountDownLatch(1);

    private static DeadLetterCauses causes(String queue, boolean byType, long count) {
        String cause = "com.example.Refused: card 4111";
        CauseGroup group = byType ? CauseGroup.ofType(cause) : CauseGroup.of(cause);
        return new DeadLetterCauses(queue,
                List.of(new DeadLetterCauses.Count(group, count, Instant.EPOCH, Instant.EPOCH, "1~1")), count, true);
    }

    /** Returns the groups of each queue, with the number of the walk as a count. */
    private void walksAreNumbered() {
        AtomicLong walks = new AtomicLong();
        given(this.inspector.deadLetterCauses(anyString(), anyBoolean()))
            .willAnswer((call) -> causes(call.getArgument(0), call.getArgument(1), walks.incrementAndGet()));
    }

    private long walk(String queue) {
        return this.cache.get(queue, false).examined();
    }

    /** As {@link #walk}, but fails if it waits for a walk that does not end. */
    private long promptWalk() throws Exception {
        return request().result().get(1, TimeUnit.MINUTES).examined();
    }

    /** Starts a request in a thread of its own. */
    private Request request() {
        CompletableFuture<DeadLetterCauses> result = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                result.complete(this.cache.get(QUEUE, false));
            }
            catch (RuntimeException ex) {
                result.completeExceptionally(ex);
            }
        }, "request");
        thread.setDaemon(true);
        thread.start();
        return new Request(thread, result);
    }

    private void firstWalkWaits(long count) {
        given(this.inspector.deadLetterCauses(QUEUE, false)).willAnswer((call) -> {
            this.walking.countDown();
            this.goOn.await();
            return causes(QUEUE, false, count);
        }).willReturn(causes(QUEUE, false, count + 1));
    }

    @Test
    void aQueueIsGroupedOnceInFiveSeconds() {
        walksAreNumbered();

        assertThat(walk(QUEUE)).isEqualTo(1);
        this.nanos.addAndGet(TimeUnit.SECONDS.toNanos(5) - 1);
        assertThat(walk(QUEUE)).isEqualTo(1);
        this.nanos.addAndGet(1);
        assertThat(walk(QUEUE)).isEqualTo(2);
    }

    /** Or each retry of a page would occupy a thread of the container. */
    @Test
    void aRequestWaitsALimitedTime() throws Exception {
        firstWalkWaits(7);
        DeadLetterCauseCache impatient = new DeadLetterCauseCache(this.inspector, this.nanos::get,
                Duration.ofMillis(1));

        for (int i = 0; i < 3; i++) {
            assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> impatient.get(QUEUE, false))
                .withMessage("The dead letters of queue 'orders' could not be grouped within 1 ms");
        }
        this.walking.await();
        this.goOn.countDown();

        await().untilAsserted(() -> assertThat(impatient.get(QUEUE, false).examined()).isEqualTo(7));
    }

    /** Otherwise a caller who may not read causes would get the text of another. */
    @Test
    void groupsByTypeAndGroupsByMessageAreKeptApart() {
        walksAreNumbered();

        assertThat(this.cache.get(QUEUE, false)).isEqualTo(causes(QUEUE, false, 1));
        assertThat(this.cache.get(QUEUE, true)).isEqualTo(causes(QUEUE, true, 2));
        assertThat(this.cache.get("receipts", false)).isEqualTo(causes("receipts", false, 3));
        assertThat(this.cache.get(QUEUE, false)).isEqualTo(causes(QUEUE, false, 1));
    }

    /** A walk of 100 calls takes longer than five seconds if Redis is slow. */
    @Test
    void requestsShareAWalkHoweverLongItTakes() throws Exception {
        firstWalkWaits(3);
        Request first = request();
        this.walking.await();
        this.nanos.addAndGet(10 * DeadLetterCauseCache.MAX_AGE);
        Request second = request();
        await().until(second::waits);
        this.goOn.countDown();

        assertThat(second.result().get(1, TimeUnit.MINUTES)).isSameAs(first.result().get(1, TimeUnit.MINUTES));
        verify(this.inspector, times(1)).deadLetterCauses(QUEUE, false);
    }

    @Test
    void aFailureInTheMiddleOfAWalkReachesAllItsRequestsAndIsNotKept() throws Exception {
        given(this.inspector.deadLetterCauses(QUEUE, false)).willAnswer((call) -> {
            this.walking.countDown();
            this.goOn.await();
            throw new StoreUnavailableException("no answer", Effect.NONE, null);
        }).willReturn(causes(QUEUE, false, 7));
        Request first = request();
        this.walking.await();
        Request second = request();
        await().until(second::waits);
        this.goOn.countDown();

        for (Request failed : List.of(first, second)) {
            assertThatThrownBy(() -> failed.result().get(1, TimeUnit.MINUTES))
                .hasCauseInstanceOf(StoreUnavailableException.class);
        }
        assertThat(walk(QUEUE)).isEqualTo(7);
    }

    @Test
    void aChangeOfAQueueForgetsItsGroupsAndNoOthers() {
        walksAreNumbered();
        this.cache.get(QUEUE, false);
        this.cache.get(QUEUE, true);
        walk("receipts");

        this.cache.forget(QUEUE);

        assertThat(this.cache.get(QUEUE, false)).isEqualTo(causes(QUEUE, false, 4));
        assertThat(this.cache.get(QUEUE, true)).isEqualTo(causes(QUEUE, true, 5));
        assertThat(walk("receipts")).isEqualTo(3);
    }

    /** It may have counted what the change has removed. */
    @Test
    void aWalkThatBeganBeforeAChangeIsNotKept() throws Exception {
        firstWalkWaits(3);
        Request before = request();
        this.walking.await();

        this.cache.forget(QUEUE);

        assertThat(promptWalk()).isEqualTo(4);
        this.goOn.countDown();
        assertThat(before.result().get(1, TimeUnit.MINUTES)).isEqualTo(causes(QUEUE, false, 3));
        assertThat(walk(QUEUE)).isEqualTo(4);
    }

    @Test
    void aWalkThatFailsLeavesTheOneThatBeganAfterIt() throws Exception {
        given(this.inspector.deadLetterCauses(QUEUE, false)).willAnswer((call) -> {
            this.walking.countDown();
            this.goOn.await();
            throw new StoreUnavailableException("no answer", Effect.NONE, null);
        }).willReturn(causes(QUEUE, false, 4)).willReturn(causes(QUEUE, false, 5));
        Request before = request();
        this.walking.await();
        this.cache.forget(QUEUE);
        assertThat(promptWalk()).isEqualTo(4);
        this.goOn.countDown();
        before.thread().join();

        assertThat(walk(QUEUE)).isEqualTo(4);
    }

    @Test
    void fiftyGroupingsAreKept() {
        walksAreNumbered();
        List<Long> walks = new ArrayList<>(IntStream.range(0, 50).mapToObj((i) -> walk("q-" + i)).toList());
        assertThat(walk("q-0")).isEqualTo(1);

        assertThat(walk("q-50")).isEqualTo(51);

        assertThat(walk("q-1")).isEqualTo(2);
        assertThat(walk("q-0")).as("the oldest").isEqualTo(52);
        assertThat(walks).hasSize(50).doesNotHaveDuplicates();
    }

    /** Holds a request that was made in another thread. */
    private record Request(Thread thread, CompletableFuture<DeadLetterCauses> result) {

        boolean waits() {
            return this.thread.getState() == Thread.State.TIMED_WAITING;
        }

    }

}

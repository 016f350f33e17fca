package io.delayqueue.listener;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;

import io.delayqueue.admin.ListenerOverride;
import io.delayqueue.admin.WantedNodeState;
import io.delayqueue.admin.WantedNodeState.StackRequest;
import io.delayqueue.fixtures.ManualNanoClock;
import io.delayqueue.listener.poll.HandlerExecutor;
import io.delayqueue.listener.poll.HandlerMonitor;
import io.delayqueue.listener.poll.TestBed;
import io.delayqueue.store.HandlerStacksCodec;
import io.delayqueue.store.NodeRegistry;
import io.delayqueue.store.NodeRegistry.NodeEntry;
import io.delayqueue.store.WantedStateCodec;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.willAnswer;
import static org.mockito.BDDMockito.willReturn;
import static org.mockito.BDDMockito.willThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;

/** Tests how a node follows what operators want of it, and for how long. */
class WantedStateReconcilerTests {

    private static final Instant NOW = Instant.parse("2030-01-01T00:00:00Z");

    private static final Duration HOUR = Duration.ofHours(1);

    private final ManualNanoClock clock = new ManualNanoClock();

    private final NodeRegistry registry = mock();

    private final ListenerContainer listener = mock();

    private final List<ListenerContainer> listeners = new ArrayList<>(List.of(this.listener));

    private final HandlerMonitor handlers = mock();

    private final List<List<ListenerOverride>> applied = new ArrayList<>();

    private final List<String> stacks = new CopyOnWriteArrayList<>();

    private final WantedStateReconciler reconciler = new WantedStateReconciler(this.registry, "n", () -> this.listeners,
            this.clock);

    @BeforeEach
    void prepare() {
        given(this.listener.id()).willReturn("l");
        willAnswer((call) -> this.applied.add(call.getArgument(0))).given(this.listener).override(any());
        willAnswer((call) -> {
            byte[] content = call.getArgument(1);
            this.stacks.add((content.length == 0) ? "none"
                    : HandlerStacksCodec.read(content, NOW).orElseThrow().requestedAt().toString());
            return CompletableFuture.completedFuture(new NodeEntry(true, NOW, content));
        }).given(this.registry).putStacks(any(), any());
        willAnswer((call) -> {
            call.<Runnable>getArgument(0).run();
            return null;
        }).given(this.handlers).execute(any());
        given(this.handlers.overdueStacks()).willReturn(List.of());
    }

    private static ListenerOverride override(String listener, String queue, Duration duration) {
        return new ListenerOverride(listener, queue, 2, false, "alice", NOW, NOW.plus(duration));
    }

    private boolean answer(Instant now, ListenerOverride... overrides) {
        return answer(now, new WantedNodeState(List.of(overrides), null));
    }

    private boolean answer(Instant now, WantedNodeState wanted) {
        return this.reconciler.reconcile(entry(now, wanted), this.handlers);
    }

    private static NodeEntry entry(Instant now, WantedNodeState wanted) {
        return new NodeEntry(true, now, WantedStateCodec.write(wanted));
    }

    @Test
    void appliesTheOverridesOfEachListenerOnceUntilTheyChange() {
        ListenerOverride own = override("l", "q", HOUR);
        assertThat(answer(NOW, own, override("other", "q", HOUR))).isTrue();
        assertThat(answer(NOW, own, override("other", "q", HOUR))).as("nothing new").isFalse();
        assertThat(answer(NOW, own)).as("of a listener that is not here").isFalse();
        assertThat(this.applied).containsExactly(List.of(own));

        assertThat(answer(NOW)).as("withdrawn, or lost with Redis").isTrue();
        assertThat(this.applied).containsExactly(List.of(own), List.of());
    }

    @Test
    void anOverrideEndsAtItsTimeOnTheClockOfTheStore() {
        answer(NOW, override("l", "q", HOUR));
        assertThat(answer(NOW.plus(HOUR).minusMillis(1), override("l", "q", HOUR))).isFalse();
        assertThat(answer(NOW.plus(HOUR), override("l", "q", HOUR))).isTrue();
        assertThat(this.applied).hasSize(2).last().isEqualTo(List.of());
    }

    /** Redis is away for longer than the override was to last. */
    @Test
    void anOverrideEndsAtItsTimeAlsoWhileTheStoreDoesNotAnswer() {
        answer(NOW.plus(HOUR).minusSeconds(10), override("l", "q", HOUR));
        this.clock.advance(Duration.ofSeconds(10).minusNanos(1));
        this.reconciler.endExpired(this.handlers);
        assertThat(this.applied).hasSize(1);

        this.clock.advance(Duration.ofNanos(1));
        this.reconciler.endExpired(this.handlers);
        assertThat(this.applied).hasSize(2).last().isEqualTo(List.of());
    }

    @Test
    void anOverrideOfAnUnknownListenerCausesNoSecondReport() {
        assertThat(answer(NOW, override("other", "q", HOUR))).isFalse();
    }

    /** It may come with a bean that is created later. */
    @Test
    void anOverrideAppliesToAListenerThatIsRegisteredAgainOrLater() {
        ListenerOverride own = override("l", "q", HOUR);
        answer(NOW, own);
        ListenerContainer again = mock();
        given(again.id()).willReturn("l");
        this.listeners.set(0, again);

        assertThat(answer(NOW, own)).isTrue();

        verify(again).override(List.of(own));
        ListenerContainer later = mock();
        given(later.id()).willReturn("l");
        this.listeners.set(0, later);
        this.reconciler.endExpired(this.handlers); // the store may be away
        verify(later).override(List.of(own));
        assertThat(this.applied).as("of the first one").hasSize(1);
    }

    /** Any client of the store may write an override, which must not stop the others. */
    @ParameterizedTest
    @CsvSource({ "9000000000000000,2", "1893628800001,2", "4102444800000,2", "1893456000000,2", "1893459600000,10001",
            "1893459600000,0", "1893459600000,-1", "1893459600000,1e99", "1893459600000,\"x\"" })
    void anOverrideOutOfBoundsIsLeftOutBesideOthers(long until, String concurrency) {
        String content = """
                {"overrides": [{"listener": "l", "queue": "r", "concurrency": %s, "paused": true, "until": %d},
                  {"listener": "l", "queue": "q", "concurrency": 2, "by": "alice", "at": %d, "until": %d}],
                 "stacks": {"at": 1, "until": 9000000000000000}}""".formatted(concurrency, until, NOW.toEpochMilli(),
                NOW.plus(HOUR).toEpochMilli());

        this.reconciler.reconcile(new NodeEntry(true, NOW, content.getBytes(StandardCharsets.UTF_8)), this.handlers);

        assertThat(this.applied).containsExactly(List.of(override("l", "q", HOUR)));
        assertThat(this.stacks).isEmpty();
    }

    /** The clock of the store has jumped back by the longest time. */
    @Test
    void anOverrideMayEndTwoDaysFromNow() {
        answer(NOW, override("l", "q", Duration.ofDays(2)));
        assertThat(this.applied).hasSize(1);
    }

    @Test
    void noneOutlivesTheNode() {
        answer(NOW, override("l", "q", HOUR));
        this.reconciler.end();
        assertThat(this.applied).hasSize(2).last().isEqualTo(List.of());

        assertThat(answer(NOW, override("l", "q", HOUR))).as("to an earlier report").isFalse();
        answer(NOW, stacksWanted(NOW));
        assertThat(this.applied).hasSize(2);
        assertThat(this.stacks).isEmpty();
        this.reconciler.begin();
        assertThat(answer(NOW, override("l", "q", HOUR))).as("of the next run").isTrue();
    }

    private static WantedNodeState stacksWanted(Instant at) {
        return new WantedNodeState(List.of(), new StackRequest("alice", at, at.plus(Duration.ofMinutes(2))));
    }

    @Test
    void takesTheStacksOfARequestOnceAndRemovesThemAtItsEnd() {
        answer(NOW, stacksWanted(NOW));
        answer(NOW.plusSeconds(6), stacksWanted(NOW));
        assertThat(this.stacks).containsExactly(NOW.toString());

        answer(NOW.plusSeconds(60), stacksWanted(NOW.plusSeconds(60)));
        assertThat(this.stacks).hasSize(2);
        this.clock.advance(Duration.ofMinutes(2).minusNanos(1));
        this.reconciler.endExpired(this.handlers);
        assertThat(this.stacks).hasSize(2);
        this.clock.advance(Duration.ofNanos(1));
        this.reconciler.endExpired(this.handlers);
        this.reconciler.endExpired(this.handlers);
        assertThat(this.stacks).containsExactly(NOW.toString(), NOW.plusSeconds(60).toString(), "none");
    }

    @Test
    void removesTheStacksWithTheNextReportIfThisOneFails() {
        answer(NOW, stacksWanted(NOW));
        this.clock.advance(Duration.ofMinutes(2));
        willReturn(CompletableFuture.failedFuture(new IllegalStateException())).given(this.registry)
            .putStacks(any(), any());
        this.reconciler.endExpired(this.handlers);
        prepare();

        this.reconciler.endExpired(this.handlers);
        this.reconciler.endExpired(this.handlers);

        assertThat(this.stacks).containsExactly(NOW.toString(), "none");
    }

    @Test
    void storesNoStacksThatWereTakenTooLate() {
        List<Runnable> tasks = new ArrayList<>();
        willAnswer((call) -> tasks.add(call.getArgument(0))).given(this.handlers).execute(any());
        answer(NOW, stacksWanted(NOW));
        answer(NOW, stacksWanted(NOW.plusSeconds(1)));
        tasks.get(0).run();
        assertThat(this.stacks).as("another request came").isEmpty();

        this.clock.advance(Duration.ofMinutes(2).plusSeconds(1));
        tasks.get(1).run();
        assertThat(this.stacks).as("its time has passed").isEmpty();
    }

    /** All handlers hang, on an executor of the application. */
    @Test
    void takesTheStacksAlsoIfNoThreadOfTheHandlersIsFree() {
        ExecutorService pool = Executors.newFixedThreadPool(1);
        CountDownLatch release = new CountDownLatch(1);
        HandlerExecutor executor = new HandlerExecutor(false, false, pool);
        executor.execute(() -> {
            try {
                release.await();
            }
            catch (InterruptedException ex) {
                Thread.currentThread().interrupt();
            }
        });
        try {
            this.reconciler.reconcile(entry(NOW, stacksWanted(NOW)),
                    new HandlerMonitor(executor, this.clock, Duration.ofMinutes(1)));
            TestBed.await(() -> this.stacks.equals(List.of(NOW.toString())));
        }
        finally {
            release.countDown();
            pool.shutdownNow();
            executor.close();
        }
    }

    @Test
    void takesTheStacksWithTheNextReportIfThisOneFails() {
        willThrow(new RejectedExecutionException()).given(this.handlers).execute(any());
        answer(NOW, stacksWanted(NOW));
        prepare();
        willReturn(CompletableFuture.failedFuture(new IllegalStateException())).given(this.registry)
            .putStacks(any(), any());
        answer(NOW, stacksWanted(NOW));
        assertThat(this.stacks).isEmpty();

        prepare();
        answer(NOW, stacksWanted(NOW));
        assertThat(this.stacks).containsExactly(NOW.toString());
    }

}

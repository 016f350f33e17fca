package io.delayqueue.test.autoconfigure;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.delayqueue.test.DelayQueueTester;
import org.junit.jupiter.api.Test;
import org.junit.platform.testkit.engine.EngineTestKit;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.test.context.ContextConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

/** Verifies which tests wait for each other if JUnit runs them in parallel. */
class ParallelContextTests {

    private static final State STATE = new State();

    @Test
    void classesOfOneContextRunOneAfterAnotherAndOthersInParallel() {
        EngineTestKit.engine("junit-jupiter")
            .configurationParameter("junit.jupiter.execution.parallel.enabled", "true")
            .configurationParameter("junit.jupiter.execution.parallel.mode.default", "concurrent")
            .configurationParameter("junit.jupiter.execution.parallel.config.strategy", "fixed")
            .configurationParameter("junit.jupiter.execution.parallel.config.fixed.parallelism", "4")
            .selectors(selectClass(FirstOfContext.class), selectClass(SecondOfContext.class),
                    selectClass(OtherContext.class))
            .execute()
            .testEvents()
            .assertStatistics((statistics) -> statistics.started(4).succeeded(4));

        assertThat(STATE.shared).hasSize(1);
        assertThat(STATE.most).hasValue(1);
    }

    private static void share(DelayQueueTester tester) throws InterruptedException {
        STATE.shared.add(tester);
        STATE.most.accumulateAndGet(STATE.running.incrementAndGet(), Math::max);
        STATE.sharedRuns.countDown();
        assertThat(STATE.otherRuns.await(1, TimeUnit.MINUTES)).isTrue();
        STATE.running.decrementAndGet();
    }

    @DelayQueueTest
    @ContextConfiguration(classes = Application.class)
    static class FirstOfContext {

        @Autowired
        private DelayQueueTester tester;

        @Test
        void one() throws InterruptedException {
            share(this.tester);
        }

        @Test
        void two() throws InterruptedException {
            share(this.tester);
        }

    }

    @DelayQueueTest
    @ContextConfiguration(classes = Application.class)
    static class SecondOfContext {

        @Autowired
        private DelayQueueTester tester;

        @Test
        void three() throws InterruptedException {
            share(this.tester);
        }

    }

    @DelayQueueTest(startAt = "2026-03-01T12:00:00Z")
    @ContextConfiguration(classes = Application.class)
    static class OtherContext {

        @Autowired
        private DelayQueueTester tester;

        @Test
        void runsMeanwhile() throws InterruptedException {
            assertThat(STATE.sharedRuns.await(1, TimeUnit.MINUTES)).isTrue();
            STATE.otherRuns.countDown();
            assertThat(STATE.shared).doesNotContain(this.tester);
        }

    }

    @SpringBootConfiguration
    static class Application {

    }

    /** Holds what the fixtures have in common. */
    private static final class State {

        private final Set<DelayQueueTester> shared = ConcurrentHashMap.newKeySet();

        private final AtomicInteger running = new AtomicInteger();

        private final AtomicInteger most = new AtomicInteger();

        private final CountDownLatch sharedRuns = new CountDownLatch(1);

        private final CountDownLatch otherRuns = new CountDownLatch(1);

    }

}

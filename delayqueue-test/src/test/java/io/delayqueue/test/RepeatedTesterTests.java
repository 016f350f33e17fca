package io.delayqueue.test;

import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Event;
import org.junit.platform.testkit.engine.Events;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

/**
 * Runs the cases of the tester many times, to find a test of the kit that fails now and
 * then.
 */
@Tag("faults")
@Timeout(value = 6, unit = TimeUnit.HOURS)
class RepeatedTesterTests {

    @Test
    void inMemory() {
        repeat(MemoryTesterTests.class);
    }

    @Test
    void onRedis() {
        repeat(Redis70TesterTests.class);
    }

    private static void repeat(Class<?> tests) {
        int repetitions = Integer.getInteger("dq.test.repetitions", 1000);
        for (int i = 1; i <= repetitions; i++) {
            Events events = EngineTestKit.engine("junit-jupiter").selectors(selectClass(tests)).execute().testEvents();
            assertThat(events.failed().stream()).as("failures in repetition %d", i).map(Event::toString).isEmpty();
            assertThat(events.succeeded().count()).isPositive();
        }
    }

}

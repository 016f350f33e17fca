package io.delayqueue.test;

import java.time.Duration;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.ScheduleDefinition;
import io.delayqueue.ScheduleOperations;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.test.ScheduleTimeCases.Reports;
import io.delayqueue.test.autoconfigure.DelayQueueTest;
import io.delayqueue.test.autoconfigure.TestStoreType;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.ContextConfiguration;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Fires a daily schedule for a year in an application with one listener, and prints the
 * real time that it takes.
 */
class DailyScheduleTests {

    /**
     * Declares no other listener, as each would be polled at each stop. No annotation
     * makes it a component, so the application of the other tests does not find it.
     */
    @Import(Reports.class)
    static class Application {

    }

    abstract static class Year {

        @Autowired
        private DelayQueueTester tester;

        @Autowired
        private DelayQueueOperations queue;

        @Autowired
        private Reports reports;

        @Test
        void firesEachDay() {
            ScheduleOperations schedules = this.queue.schedules(ScheduleTimeCases.REPORTS);
            schedules.put(ScheduleDefinition.cron("daily", "0 0 6 * * *").payload("text").build());

            long start = System.nanoTime();
            assertThat(this.tester.advance(Duration.ofDays(365))).hasSucceeded(365).hasNoOthers();
            System.out.printf("A year of a daily schedule in %d ms of real time (%s)%n",
                    Duration.ofNanos(System.nanoTime() - start).toMillis(), getClass().getSimpleName());

            assertThat(this.reports.times).hasSize(365)
                .allSatisfy((time) -> assertThat(time.toString()).endsWith("T06:00:00Z"));
            assertThat(schedules.find("daily").orElseThrow().sent()).isEqualTo(365);
        }

    }

    @Nested
    @DelayQueueTest(useDefaultFilters = false)
    @ContextConfiguration(classes = Application.class)
    class Memory extends Year {

    }

    @Nested
    @DelayQueueTest(useDefaultFilters = false, store = TestStoreType.REDIS)
    @ContextConfiguration(classes = Application.class)
    @Tag("server")
    class Redis62 extends Year {

        @DynamicPropertySource
        static void redis(DynamicPropertyRegistry properties) {
            properties.add("delayqueue.test.redis-binary", RedisBinary.REDIS_6_2::path);
        }

    }

    @Nested
    @DelayQueueTest(useDefaultFilters = false, store = TestStoreType.REDIS)
    @ContextConfiguration(classes = Application.class)
    @Tag("matrix")
    class Redis70 extends Year {

        @DynamicPropertySource
        static void redis(DynamicPropertyRegistry properties) {
            properties.add("delayqueue.test.redis-binary", RedisBinary.REDIS_7_0::path);
        }

    }

}

package io.delayqueue.test;

import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.test.ScheduleTimeCases.Reports;
import io.delayqueue.test.WindowCases.Confirmations;
import io.delayqueue.test.autoconfigure.DelayQueueTest;
import io.delayqueue.test.autoconfigure.TestStoreType;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

import org.springframework.context.annotation.Import;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** Runs the cases of the tester on Redis 7.0. */
@DelayQueueTest(store = TestStoreType.REDIS)
@Tag("server")
class Redis70TesterTests {

    @DynamicPropertySource
    static void redis(DynamicPropertyRegistry properties) {
        properties.add("delayqueue.test.redis-binary", RedisBinary.REDIS_7_0::path);
    }

    @Nested
    class Time extends TimeCases {

    }

    @Nested
    class Fault extends FaultCases {

    }

    @Nested
    class Token extends TokenCases {

    }

    @Nested
    class Twice extends DeliverTwiceCases {

    }

    @Nested
    @Import(Confirmations.class)
    class Window extends WindowCases {

    }

    @Nested
    @Import(Reports.class)
    class Schedule extends ScheduleTimeCases {

    }

}

package io.delayqueue.test;

import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.test.WindowCases.Confirmations;
import io.delayqueue.test.autoconfigure.DelayQueueTest;
import io.delayqueue.test.autoconfigure.TestStoreType;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

import org.springframework.context.annotation.Import;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** Runs the cases of the tester on Redis 6.2. */
@DelayQueueTest(store = TestStoreType.REDIS)
@Tag("server")
@Tag("matrix")
class Redis62TesterTests {

    @DynamicPropertySource
    static void redis(DynamicPropertyRegistry properties) {
        properties.add("delayqueue.test.redis-binary", RedisBinary.REDIS_6_2::path);
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

}

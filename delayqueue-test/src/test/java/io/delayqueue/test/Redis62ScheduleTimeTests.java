package io.delayqueue.test;

import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.test.ScheduleTimeCases.Reports;
import io.delayqueue.test.autoconfigure.DelayQueueTest;
import io.delayqueue.test.autoconfigure.TestStoreType;
import org.junit.jupiter.api.Tag;

import org.springframework.context.annotation.Import;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

@DelayQueueTest(store = TestStoreType.REDIS)
@Import(Reports.class)
@Tag("server")
@Tag("matrix")
class Redis62ScheduleTimeTests extends ScheduleTimeCases {

    @DynamicPropertySource
    static void redis(DynamicPropertyRegistry properties) {
        properties.add("delayqueue.test.redis-binary", RedisBinary.REDIS_6_2::path);
    }

}

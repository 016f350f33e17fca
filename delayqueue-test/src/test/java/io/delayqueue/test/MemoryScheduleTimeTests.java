package io.delayqueue.test;

import io.delayqueue.test.ScheduleTimeCases.Reports;
import io.delayqueue.test.autoconfigure.DelayQueueTest;

import org.springframework.context.annotation.Import;

@DelayQueueTest
@Import(Reports.class)
class MemoryScheduleTimeTests extends ScheduleTimeCases {

}

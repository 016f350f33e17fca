package io.delayqueue.test;

import java.time.Duration;
import java.time.Instant;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.SendResult;
import io.delayqueue.test.TestListener.Order;
import org.junit.jupiter.api.BeforeEach;

import org.springframework.beans.factory.annotation.Autowired;

import static io.delayqueue.test.TestListener.ORDERS;

/** Holds what the cases of the tester share. */
abstract class TesterCase {

    @Autowired
    DelayQueueTester tester;

    @Autowired
    DelayQueueOperations queue;

    @Autowired
    TestListener listener;

    Instant start;

    @BeforeEach
    void begin() {
        this.listener.reset();
        this.start = this.tester.now();
    }

    SendResult send(String id, Duration delay) {
        return this.queue.send(ORDERS, id, Order.of(1), delay);
    }

    Instant at(Duration afterStart) {
        return this.start.plus(afterStart);
    }

}

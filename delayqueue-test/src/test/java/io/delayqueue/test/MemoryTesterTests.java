package io.delayqueue.test;

import io.delayqueue.test.WindowCases.Confirmations;
import io.delayqueue.test.autoconfigure.DelayQueueTest;
import org.junit.jupiter.api.Nested;

import org.springframework.context.annotation.Import;

/** Runs the cases of the tester on the store in memory. */
@DelayQueueTest
class MemoryTesterTests {

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

package io.delayqueue.test;

import java.time.Duration;
import java.util.List;

import io.delayqueue.DelayedListener;
import io.delayqueue.DelayedMessage;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.test.DeliveryLimitTests.EndlessChain;
import io.delayqueue.test.autoconfigure.DelayQueueTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Verifies that a call ends although its handlers send again without delay. */
@DelayQueueTest
@Tag("faults")
@Import(EndlessChain.class)
class DeliveryLimitTests extends TesterCase {

    @Test
    void oneHundredThousandDeliveriesInOneCallFailIt() {
        for (int i = 0; i < 1000; i++) {
            this.queue.send(EndlessChain.QUEUE, "payload", Duration.ZERO);
        }

        assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> this.tester.drain())
            .withMessageMatching("(?s)There were 100,000 deliveries in one call, which is the limit; is a message sent "
                    + "again without delay\\?\\R  queue 'chain' had 100\\d{3} of them\\R");
    }

    static class EndlessChain {

        static final String QUEUE = "chain";

        private final DelayQueueOperations queue;

        EndlessChain(DelayQueueOperations queue) {
            this.queue = queue;
        }

        @DelayedListener(queues = QUEUE, batch = true)
        void handle(List<String> payloads) {
            this.queue
                .sendAll(payloads.stream().map((payload) -> DelayedMessage.builder(QUEUE, payload).build()).toList());
        }

    }

}

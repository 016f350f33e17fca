package io.delayqueue.test;

import java.time.Duration;

import io.delayqueue.DelayedListener;
import io.delayqueue.DelayedMessage;
import io.delayqueue.SendOutcome;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Verifies that duplicate windows begin and end in virtual time, on each store. */
abstract class WindowCases extends TesterCase {

    private static final String QUEUE = "confirmations";

    private SendOutcome send() {
        return this.queue
            .send(DelayedMessage.builder(QUEUE, "text")
                .id("request-1")
                .delay(Duration.ofMinutes(30))
                .duplicateWindow(Duration.ofDays(1))
                .build())
            .outcome();
    }

    @Test
    void aWindowBeginsWithTheHandlingAndEndsInVirtualTime() {
        assertThat(send()).isEqualTo(SendOutcome.SCHEDULED);
        assertThat(send()).isEqualTo(SendOutcome.KEPT);
        assertThat(this.tester.advance(Duration.ofMinutes(30))).hasSucceeded(1).hasNoOthers();

        assertThat(send()).isEqualTo(SendOutcome.DEDUPLICATED);
        this.tester.advance(Duration.ofDays(1).minusMillis(1));
        assertThat(send()).isEqualTo(SendOutcome.DEDUPLICATED);

        this.tester.advance(Duration.ofMillis(1));
        assertThat(send()).isEqualTo(SendOutcome.SCHEDULED);
        assertThat(this.tester.advance(Duration.ofMinutes(30))).hasSucceeded(1).hasNoOthers();
    }

    static class Confirmations {

        @DelayedListener(QUEUE)
        void confirm(String text) {
        }

    }

}

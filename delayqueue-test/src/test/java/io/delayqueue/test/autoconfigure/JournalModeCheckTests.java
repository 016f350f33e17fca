package io.delayqueue.test.autoconfigure;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.mock.env.MockEnvironment;

import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNoException;

/** Verifies that journals that apply messages in real time are rejected. */
class JournalModeCheckTests {

    private final MockEnvironment environment = new MockEnvironment();

    @Test
    void ledgerOfAllQueuesIsRejected() {
        this.environment.setProperty("delayqueue.journal.mode", "ledger");

        assertThatIllegalStateException().isThrownBy(this::check)
            .withMessageStartingWith("The DelayQueueTester cannot test any queue in virtual time: its journal, in mode "
                    + "'ledger', applies messages in real time. Set delayqueue.journal.mode=off");
    }

    @Test
    void outboxOfOneQueueIsRejected() {
        this.environment.setProperty("delayqueue.queues.order-timeout.journal-mode", "outbox");

        assertThatIllegalStateException().isThrownBy(this::check)
            .withMessageContaining("queue 'order-timeout'")
            .withMessageContaining("Set delayqueue.queues.order-timeout.journal-mode=off");
    }

    @ParameterizedTest
    @ValueSource(strings = { "off", "audit" })
    void othersAreAllowed(String mode) {
        this.environment.setProperty("delayqueue.journal.mode", mode);
        this.environment.setProperty("delayqueue.queues.order-timeout.concurrency", "2");

        assertThatNoException().isThrownBy(this::check);
    }

    private void check() {
        new JournalModeCheck(this.environment).postProcessBeanFactory(new DefaultListableBeanFactory());
    }

}

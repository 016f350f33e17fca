package io.delayqueue.redis.wakeup;

import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** P3: a silent connection is sent a request, and dropped if there is no answer. */
class SubscriptionHeartbeatTests {

    private final List<String> calls = new ArrayList<>();

    private boolean sent = true;

    private final SubscriptionHeartbeat heartbeat = new SubscriptionHeartbeat(
            new SubscriptionHeartbeat.MonitoredConnection() {

                @Override
                public boolean request() {
                    SubscriptionHeartbeatTests.this.calls.add("request");
                    return SubscriptionHeartbeatTests.this.sent;
                }

                @Override
                public void drop() {
                    SubscriptionHeartbeatTests.this.calls.add("drop");
                }

            });

    private void beat(int times) {
        for (int i = 0; i < times; i++) {
            this.heartbeat.beat();
        }
    }

    @Test
    void sendsARequestAfterTwoSilentBeatsAndDropsAfterTwoMore() {
        beat(1);
        assertThat(this.calls).isEmpty();
        beat(1);
        assertThat(this.calls).containsExactly("request");
        beat(1);
        assertThat(this.calls).containsExactly("request");
        beat(1);
        assertThat(this.calls).containsExactly("request", "drop");
    }

    @Test
    void sendsNoRequestWhileSomethingIsReceived() {
        for (int i = 0; i < 10; i++) {
            this.heartbeat.received();
            beat(2);
        }
        assertThat(this.calls).isEmpty();
    }

    @Test
    void keepsAConnectionThatAnswers() {
        for (int i = 0; i < 10; i++) {
            beat(3);
            this.heartbeat.received();
        }
        assertThat(this.calls).containsOnly("request");
    }

    @Test
    void keepsAConnectionIfNoRequestCanBeSent() {
        this.sent = false;
        beat(20);
        assertThat(this.calls).hasSize(10).containsOnly("request");
    }

}

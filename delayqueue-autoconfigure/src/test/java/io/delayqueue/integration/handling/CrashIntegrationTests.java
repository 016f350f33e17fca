package io.delayqueue.integration.handling;

import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;

import io.delayqueue.DeadLetter;
import io.delayqueue.MessageState;
import io.delayqueue.SendResult;
import io.delayqueue.StoredMessage;
import io.delayqueue.fixtures.application.Application;
import io.delayqueue.fixtures.application.Applications;
import io.delayqueue.fixtures.application.ChildApplication;
import io.delayqueue.fixtures.application.ChildJvm;
import io.delayqueue.fixtures.application.OrderHandler.Handled;
import io.delayqueue.fixtures.application.OrderHandler.Order;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Processes that vanish or stall while they handle a message: it is handled elsewhere
 * once its lease is over and not before (P3, P4), what a stalled process makes of it then
 * is turned away (P5), and a message that kills its processes dies (P9).
 */
@Tag("server")
class CrashIntegrationTests {

    private final RedisServer redis = RedisServer.shared(RedisBinary.preferred());

    @RegisterExtension
    final Applications applications = new Applications();

    @Test
    void theMessageOfAProcessThatStallsOrIsKilledIsHandledByAnotherAfterItsLease() throws Exception {
        Assumptions.assumeFalse(System.getProperty("os.name").startsWith("Windows"), "Windows cannot stop a process");
        Application other = this.applications.withHandler(this.redis, "delayqueue.listener.lease=2s");
        other.listener().pause();
        try (ChildJvm child = start("delayqueue.listener.lease=2s")) {
            child.next();
            SendResult stalled = other.queue().send("orders", new Order(ChildApplication.WAITS), Duration.ZERO);
            assertThat(child.next()).startsWith("HANDLING 1 attempt 1 lapses 0");
            child.signal("STOP");
            Instant until = leasedUntil(other, stalled);
            other.listener().resume();
            Handled handled = other.handler().next().assertNotBefore(until);
            assertThat(handled.delivery().id()).isEqualTo(stalled.id());
            assertThat(handled.delivery().attempt()).isEqualTo(1);
            assertLateByALease(handled, stalled, until);
            this.applications.assertNoKeysLeft(this.redis);
            child.signal("CONT");
            child.goOn();
            child.awaitOutput("outlived its lease on attempt 1");
            assertThat(this.applications.keys(this.redis)).isEmpty();

            other.listener().pause();
            SendResult orphaned = other.queue().send("orders", new Order(ChildApplication.WAITS), Duration.ZERO);
            assertThat(child.next()).startsWith("HANDLING 1 attempt 1 lapses 0");
            child.close();
            until = leasedUntil(other, orphaned);
            other.listener().resume();
            handled = other.handler().next().assertNotBefore(until);
            assertThat(handled.delivery().id()).isEqualTo(orphaned.id());
            assertThat(handled.delivery().attempt()).isEqualTo(1);
            assertThat(handled.delivery().lapses()).isZero();
            assertLateByALease(handled, orphaned, until);
            this.applications.assertNoKeysLeft(this.redis);
        }
    }

    /** Counted from when the lease was given that ran out, though it was renewed. */
    private static void assertLateByALease(Handled handled, SendResult sent, Instant until) {
        Duration lease = Duration.ofSeconds(2);
        Instant given = until.minus(lease).plusMillis(100); // what is shown is rounded
        assertThat(handled.delivery().dueAt()).isBetween(sent.dueAt(), given);
        assertThat(handled.delivery().lateness()).isGreaterThanOrEqualTo(lease);
    }

    @Test
    void aMessageThatKillsItsProcessesIsDeadLetteredAfterItsLapses() throws Exception {
        String[] settings = { "delayqueue.listener.lease=1s", "delayqueue.listener.max-lapses=1" };
        Application sender = this.applications.withoutHandler(this.redis);
        sender.queue().send("orders", new Order(ChildApplication.POISON), Duration.ZERO);
        // The first lease was no one's fault as far as anyone knows; the second was
        // started.
        for (int i = 0; i < 2; i++) {
            try (ChildJvm child = start(settings)) {
                String line = child.next();
                assertThat(line.startsWith("READY") ? child.next() : line)
                    .startsWith("HANDLING 666 attempt 1 lapses 0");
                child.awaitEnd();
            }
        }

        Application worker = this.applications.withHandler(this.redis, settings);
        Applications.awaitTrue("it is dead", () -> !worker.handler().deaths().isEmpty());
        List<DeadLetter> deadLetters = worker.queue().deadLetters("orders").list(null, 10).deadLetters();
        assertThat(deadLetters).hasSize(1);
        assertThat(deadLetters.get(0).lapses()).isEqualTo(1);
        assertThat(deadLetters.get(0).failures()).isZero();
        assertThat(deadLetters.get(0).cause()).contains("lease ran out 1 time ", "max-lapses is 1");
        assertThat(worker.handler().rest()).isEmpty();
        assertThat(worker.queue().deadLetters("orders").purgeAll()).isEqualTo(1);
        this.applications.assertNoKeysLeft(this.redis);
    }

    private ChildJvm start(String... properties) {
        String[] all = Applications.at(this.redis.port(), properties);
        all = Arrays.copyOf(all, all.length + 1);
        all[all.length - 1] = "delayqueue.namespace=" + this.applications.namespace();
        return ChildJvm.start(List.of(), all);
    }

    /** Returns the end of a lease, or the time of Redis if it is over already. */
    private Instant leasedUntil(Application application, SendResult sent) {
        StoredMessage message = application.queue().find("orders", sent.id()).orElseThrow();
        return (message.state() == MessageState.LEASED) ? message.leasedUntil()
                : Applications.timeOf(this.redis.commands());
    }

}

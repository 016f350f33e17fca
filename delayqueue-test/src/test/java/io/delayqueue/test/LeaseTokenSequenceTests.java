package io.delayqueue.test;

import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import io.delayqueue.DeadLetterEvent;
import io.delayqueue.QueueName;
import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.Lease;
import io.delayqueue.store.Partition;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Verifies that no value of a message is given again after the message was sent again.
 */
class LeaseTokenSequenceTests {

    private static final Duration LEASE = Duration.ofSeconds(30);

    private static final long NOW = 1_000_000;

    private static final int MICROS = 1000;

    private final LeaseTokenSequence guard = new LeaseTokenSequence();

    @Test
    void idThatExpiresAgainAtOneTimeGetsAnotherDeadLetter() {
        Set<Long> values = new HashSet<>();
        for (int i = 0; i < MICROS; i++) {
            long micros = micros(this.guard.moment(NOW, LEASE));
            this.guard.claimed(expired(micros));
            this.guard.sent(List.of("order-1"));
            values.add(micros);
        }
        assertThat(values).hasSize(MICROS);
    }

    @Test
    void messageThatIsClaimedAgainAtOneTimeGetsAnotherToken() {
        Set<Long> tokens = new HashSet<>();
        for (int i = 0; i < 2 * MICROS; i++) {
            LeaseTokenSequence.Moment moment = this.guard.moment(NOW, LEASE);
            long token = micros(moment) + TimeUnit.NANOSECONDS.toMicros(moment.lease().toNanos());
            this.guard.claimed(claimed(token));
            this.guard.sent(List.of("order-1"));
            tokens.add(token);
        }
        assertThat(tokens).hasSize(2 * MICROS);
    }

    /** Every microsecond of the later time is the token of an earlier lease. */
    @Test
    void claimIsPossibleWhenTheLeasesOfManyResentMessagesEnd() {
        messageThatIsClaimedAgainAtOneTimeGetsAnotherToken();

        LeaseTokenSequence.Moment moment = this.guard.moment(NOW + LEASE.toMillis(), LEASE);

        assertThat(moment.micros()).isBetween(0, MICROS - 1);
    }

    private static long micros(LeaseTokenSequence.Moment moment) {
        return TimeUnit.MILLISECONDS.toMicros(NOW) + moment.micros();
    }

    private static ClaimResult expired(long micros) {
        return new ClaimResult(List.of(), Instant.ofEpochMilli(NOW), null, 1,
                List.of(new DeadLetterEvent("orders", "order-1", "order-1~" + micros, 0, "expired")), 0, true);
    }

    private static ClaimResult claimed(long token) {
        Lease lease = new Lease(Partition.first(new QueueName("orders")), "order-1", Long.toString(token));
        ClaimedMessage message = new ClaimedMessage(lease, Instant.ofEpochMilli(NOW), 0, 0, false, null, null,
                new byte[0]);
        return new ClaimResult(List.of(message), Instant.ofEpochMilli(NOW), null, 0, List.of(), 0, true);
    }

}

package io.delayqueue.test;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.Lease;

/**
 * Keeps the tokens of the leases of one message distinct, even if it is sent and claimed
 * again while time stands: a token is the end of its lease, and would be the same. The
 * same applies to the ids of dead letters, which contain a token or the time of a claim.
 * <p>
 * Chooses the time of each claim: the first microsecond of the present millisecond whose
 * tokens no earlier lease of the queue has used, if a message was sent again since. If
 * all microseconds are used, leases are longer by a millisecond.
 * <p>
 * <strong>Threads.</strong> Any.
 */
final class LeaseTokenSequence {

    private static final int MICROS = 1000;

    /** The values in use, of messages and dead letters, by the id of the message. */
    private final Map<String, Set<Long>> given = new HashMap<>();

    /** The values that must not be given again. */
    private final Set<Long> spent = new HashSet<>();

    /** Milliseconds of the last claim; its lease and first free step follow. */
    private long lastMillis;

    private Duration lastLease = Duration.ZERO;

    private int lastStep;

    /** Notes that messages are sent, or sent again. */
    synchronized void sent(Iterable<String> ids) {
        ids.forEach((id) -> {
            Set<Long> values = this.given.remove(id);
            if (values != null) {
                this.spent.addAll(values);
            }
        });
    }

    /**
     * Returns the moment for a claim.
     * @param millis the time
     */
    synchronized Moment moment(long millis, Duration lease) {
        boolean same = millis == this.lastMillis && lease.equals(this.lastLease);
        int step = same ? this.lastStep : 0;
        Moment moment = new Moment(step % MICROS, lease.plusMillis(step / MICROS));
        while (isSpent(millis, moment, step < MICROS)) {
            step++;
            moment = new Moment(step % MICROS, lease.plusMillis(step / MICROS));
        }
        this.lastMillis = millis;
        this.lastLease = lease;
        this.lastStep = step;
        return moment;
    }

    /**
     * Returns whether a claim would give a value again: as a token, or, at first, as the
     * time of a dead letter. All microseconds of a time can be tokens of earlier leases.
     */
    private boolean isSpent(long millis, Moment moment, boolean alsoTime) {
        long now = TimeUnit.MILLISECONDS.toMicros(millis) + moment.micros();
        return (alsoTime && this.spent.contains(now))
                || this.spent.contains(now + TimeUnit.NANOSECONDS.toMicros(moment.lease().toNanos()));
    }

    /** Notes what a claim has given. */
    synchronized void claimed(ClaimResult claim) {
        claim.messages().forEach((message) -> {
            Lease lease = message.lease();
            note(lease.id(), Long.parseLong(lease.token()));
        });
        claim.deadLettered()
            .forEach((deadLetter) -> note(deadLetter.id(), Long
                .parseLong(deadLetter.deadLetterId().substring(deadLetter.deadLetterId().lastIndexOf('~') + 1))));
    }

    private void note(String id, long value) {
        this.given.computeIfAbsent(id, (key) -> new HashSet<>()).add(value);
    }

    /**
     * Holds the moment of a claim.
     *
     * @param micros microseconds after the present millisecond
     * @param lease the lease, longer by a millisecond where all microseconds are spent
     */
    record Moment(int micros, Duration lease) {
    }

}

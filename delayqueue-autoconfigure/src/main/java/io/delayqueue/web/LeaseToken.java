package io.delayqueue.web;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Base64;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.delayqueue.QueueName;
import io.delayqueue.engine.ClaimedMessage;
import io.delayqueue.engine.Lease;
import io.delayqueue.engine.Partition;

/**
 * All that is needed to settle a message on any node, in the hands of who claimed it. It
 * proves nothing but by the token of the lease that it holds, which the store checks: who
 * makes one up settles nothing.
 *
 * @param lease the lease
 * @param failures handler failures before this attempt
 * @param dueAt when this attempt was due
 */
record LeaseToken(Lease lease, int failures, Instant dueAt) {

    private static final int MAX_LENGTH = 128;

    private static final Pattern FORM = Pattern.compile("1\\.(\\d{1,3})\\.(\\d{1,9})\\.(-?\\d{1,19})\\.(\\d{1,20})");

    static LeaseToken of(ClaimedMessage message) {
        return new LeaseToken(message.lease(), message.failures(), message.dueAt());
    }

    String text() {
        String plain = "1.%d.%d.%d.%s".formatted(this.lease.partition().index(), this.failures,
                this.dueAt.toEpochMilli(), this.lease.token());
        return Base64.getUrlEncoder().withoutPadding().encodeToString(plain.getBytes(StandardCharsets.US_ASCII));
    }

    /**
     * Reads what {@link #text()} wrote.
     * @throws ProblemException if it is anything else
     */
    static LeaseToken parse(QueueName queue, String id, String text) {
        try {
            if (text.length() <= MAX_LENGTH) {
                Matcher plain = FORM
                    .matcher(new String(Base64.getUrlDecoder().decode(text), StandardCharsets.ISO_8859_1));
                if (plain.matches()) {
                    Partition partition = new Partition(queue, Integer.parseInt(plain.group(1)));
                    return new LeaseToken(new Lease(partition, id, plain.group(4)), Integer.parseInt(plain.group(2)),
                            Instant.ofEpochMilli(Long.parseLong(plain.group(3))));
                }
            }
        }
        catch (IllegalArgumentException ex) {
            // Said below.
        }
        throw ProblemException.invalid("Token is not valid: use the one that the claim answered with the message");
    }

}

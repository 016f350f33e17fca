package io.delayqueue.web.consume;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Base64;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.delayqueue.QueueName;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.Lease;
import io.delayqueue.store.Partition;
import org.jspecify.annotations.Nullable;

/**
 * Identifies one lease to HTTP callers, so that any node can settle it. Callers get it
 * signed by a {@link LeaseTokenMac}, so that it cannot be forged or changed; the store
 * decides whether the lease is still live.
 *
 * @param lease the lease
 * @param failures handler failures before this attempt
 * @param dueAt when this attempt was due
 */
public record LeaseToken(Lease lease, int failures, Instant dueAt) {

    private static final int MAX_LENGTH = 128;

    private static final Pattern TEXT = Pattern.compile("([A-Za-z0-9_-]+)\\.[A-Za-z0-9_-]+");

    private static final Pattern FIELDS = Pattern.compile("2\\.(\\d{1,3})\\.(\\d{1,9})\\.(-?\\d{1,19})\\.(\\d{1,20})");

    private static final Pattern ANY_VERSION = Pattern.compile("\\d{1,3}(?:\\.-?\\d{1,20}){1,9}");

    static LeaseToken of(ClaimedMessage message) {
        return new LeaseToken(message.lease(), message.failures(), message.dueAt());
    }

    /** Returns all fields but the queue and the id, which the caller sends. */
    String fields() {
        return "2.%d.%d.%d.%s".formatted(this.lease.partition().index(), this.failures, this.dueAt.toEpochMilli(),
                this.lease.token());
    }

    /**
     * Parses the fields of a signed token, without checking the signature.
     * @return {@code null} if it has another form
     */
    static @Nullable LeaseToken unverified(QueueName queue, String id, String text) {
        Matcher parts = TEXT.matcher(text);
        if (text.length() > MAX_LENGTH || !parts.matches()) {
            return null;
        }
        try {
            Matcher fields = FIELDS
                .matcher(new String(Base64.getUrlDecoder().decode(parts.group(1)), StandardCharsets.ISO_8859_1));
            if (!fields.matches()) {
                return null;
            }
            Partition partition = new Partition(queue, Integer.parseInt(fields.group(1)));
            return new LeaseToken(new Lease(partition, id, fields.group(4)), Integer.parseInt(fields.group(2)),
                    Instant.ofEpochMilli(Long.parseLong(fields.group(3))));
        }
        catch (IllegalArgumentException ex) {
            return null;
        }
    }

    /** Returns whether a text has the form of a token of any version. */
    static boolean isForm(String text) {
        Matcher parts = TEXT.matcher(text);
        if (text.length() > MAX_LENGTH || !parts.matches()) {
            return false;
        }
        try {
            return ANY_VERSION
                .matcher(new String(Base64.getUrlDecoder().decode(parts.group(1)), StandardCharsets.ISO_8859_1))
                .matches();
        }
        catch (IllegalArgumentException ex) {
            return false;
        }
    }

}

package io.delayqueue.redis.script;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.FailedAttempts;
import io.delayqueue.store.Lease;
import io.delayqueue.store.LedgerRequest;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.OfferConditions;
import io.delayqueue.store.PartitionTarget;
import io.delayqueue.store.PrimaryPollerBid;
import io.delayqueue.store.UnstartedLease;

import static io.delayqueue.redis.script.ScriptCodec.bytes;
import static io.delayqueue.redis.script.ScriptCodec.bytesOfName;

/** Builds the arguments of scripts, as the headers of the scripts define them. */
public final class ScriptArguments {

    private static final int SEND_HEADER = 1;

    private static final int SEND_FIELDS = 3;

    private static final int SCHEDULE_HEADER = 5;

    private static final int SCHEDULE_FIELDS = 9;

    private static final int RELEASE_FIELDS = 3;

    private static final byte[] DEAD_LETTER = bytes("dead-letter");

    private static final byte[] DROP = bytes("drop");

    private static final byte[] BACKLOG = bytes("1");

    private static final byte[] NO_BACKLOG = bytes("0");

    private static final byte[] BASE_64_URL = bytes("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_");

    private ScriptArguments() {
    }

    /** Returns the arguments of send.lua. */
    public static byte[][] ofSend(PartitionTarget target, List<NewMessage> messages) {
        byte[][] arguments = new byte[SEND_HEADER + messages.size() * SEND_FIELDS][];
        arguments[0] = version(target, messages);
        int at = SEND_HEADER;
        int dueAt = SEND_HEADER + 2 * messages.size();
        DueTime due = null;
        byte[] written = new byte[0];
        for (NewMessage message : messages) {
            if (!message.due().equals(due)) { // mostly the same for all
                due = message.due();
                written = due(due);
            }
            arguments[at++] = bytesOfName(message.id());
            arguments[at++] = stamped(message);
            arguments[dueAt++] = written;
        }
        return arguments;
    }

    /** Returns the arguments of schedule.lua. */
    public static byte[][] ofSchedule(PartitionTarget target, List<NewMessage> messages, boolean ifHeld) {
        byte[][] arguments = new byte[SCHEDULE_HEADER + messages.size() * SCHEDULE_FIELDS][];
        arguments[0] = ifHeld ? bytes(target.version()) : version(target, messages);
        arguments[1] = bytes(ifHeld ? 1 : 0);
        OfferConditions offer = target.offer();
        arguments[2] = (offer != null) ? deadline(target, offer) : new byte[0];
        arguments[3] = bytes((offer != null && offer.restores()) ? 1 : 0);
        arguments[4] = (offer != null) ? bytes(DueTime.ceilToMillis(OfferConditions.VOID_MEMORY)) : new byte[0];
        int at = SCHEDULE_HEADER;
        for (NewMessage message : messages) {
            arguments[at++] = bytesOfName(message.id());
            arguments[at++] = stamped(message);
            arguments[at++] = due(message.due());
            arguments[at++] = bytes((message.timeToLive() != null) ? DueTime.ceilToMillis(message.timeToLive()) : 0);
            arguments[at++] = bytes(message.priority());
            arguments[at++] = bytes(mode(message));
            arguments[at++] = bytesOfName((message.group() != null) ? message.group() : "");
            arguments[at++] = (offer != null) ? voids(offer, message.id()) : new byte[0];
            arguments[at++] = (offer != null) ? failed(offer.failedOf(message.id())) : new byte[0];
        }
        return arguments;
    }

    private static byte[] deadline(PartitionTarget target, OfferConditions offer) {
        return bytes(offer.deadline().applyAsLong(target.partition()));
    }

    private static byte[] voids(OfferConditions offer, String id) {
        return bytes(offer.voidsOf(id).stream().map(String::valueOf).collect(Collectors.joining(" ")));
    }

    private static byte[] failed(FailedAttempts failed) {
        return (failed.count() == 0) ? new byte[0]
                : bytes(failed.count() + ":" + ((failed.dueMillis() != null) ? failed.dueMillis() : ""));
    }

    private static String mode(NewMessage message) {
        Duration window = message.duplicateWindow();
        return (window != null) ? message.onDuplicate().name() + ":" + DueTime.ceilToMillis(window)
                : message.onDuplicate().name();
    }

    /**
     * Returns the version of the sender's layout of partitions; empty if all ids are new.
     */
    private static byte[] version(PartitionTarget target, List<NewMessage> messages) {
        for (NewMessage message : messages) {
            if (!message.unique()) {
                return bytes(target.version());
            }
        }
        return new byte[0];
    }

    /** Returns the arguments of cancel.lua. */
    public static byte[][] ofCancel(PartitionTarget target, String id) {
        OfferConditions offer = target.offer();
        return (offer == null) ? new byte[][] { bytesOfName(id), bytes(target.version()) }
                : new byte[][] { bytesOfName(id), bytes(target.version()), deadline(target, offer),
                        bytes(offer.revision()), bytes(DueTime.ceilToMillis(OfferConditions.VOID_MEMORY)),
                        voids(offer, id) };
    }

    /** Returns the arguments of reschedule.lua. */
    public static byte[][] ofReschedule(PartitionTarget target, String id, DueTime due) {
        OfferConditions offer = target.offer();
        return (offer == null) ? new byte[][] { bytesOfName(id), due(due), bytes(target.version()) }
                : new byte[][] { bytesOfName(id), due(due), bytes(target.version()), deadline(target, offer),
                        bytes(offer.revision()), (offer.dueThere() != null) ? bytes(offer.dueThere()) : new byte[0] };
    }

    /** Returns the arguments of changes.lua. */
    public static byte[][] ofChanges(LedgerRequest request) {
        List<byte[]> arguments = new ArrayList<>(List.of(bytes(request.journal()), bytes(request.limit()),
                bytes(DueTime.ceilToMillis(request.claim())), bytes(DueTime.ceilToMillis(request.keep())),
                bytes(request.committedAt()), bytes(LedgerRequest.MAX_LOSS.toMillis()), bytes(request.count()),
                bytes(request.held().size())));
        Stream.concat(request.held().stream(), request.recorded().stream())
            .forEach((entry) -> arguments.add(bytesOfName(entry.kindAndRevision() + " " + entry.name())));
        return arguments.toArray(byte[][]::new);
    }

    /** Returns the arguments of claim.lua. */
    public static byte[][] ofClaim(ClaimRequest request) {
        List<byte[]> arguments = new ArrayList<>(List.of(bytes(request.limit()), micros(request.leaseTime()),
                micros(request.usualLease()), (request.policy() == ExpiryPolicy.DEAD_LETTER) ? DEAD_LETTER : DROP,
                request.backlog() ? BACKLOG : NO_BACKLOG));
        PrimaryPollerBid bid = request.bid();
        if (bid != null) {
            arguments.add(bytes(bid.kind().name().toLowerCase(Locale.ROOT)));
        }
        if (bid != null && bid.kind() != PrimaryPollerBid.Kind.RENEW) {
            arguments.add(bytes(bid.node()));
            arguments.add(bytes(bid.others()));
            arguments.add(bytes(DueTime.ceilToMillis(bid.term())));
            arguments.add(bytes(PrimaryPollerBid.GRACE.toMillis()));
        }
        return arguments.toArray(byte[][]::new);
    }

    /**
     * Returns the arguments of acknowledge.lua: the leases of one claim share a token,
     * and mostly end together.
     */
    public static byte[][] byToken(List<Lease> leases) {
        List<byte[]> arguments = new ArrayList<>(leases.size() + 2);
        int end = 0;
        for (int start = 0; start < leases.size(); start = end) {
            String token = leases.get(start).token();
            while (end < leases.size() && leases.get(end).token().equals(token)) {
                end++;
            }
            arguments.add(bytes(token));
            arguments.add(bytes(end - start));
            leases.subList(start, end).forEach((lease) -> arguments.add(bytesOfName(lease.id())));
        }
        return arguments.toArray(byte[][]::new);
    }

    /** Returns the arguments of acknowledge.lua for a message that has expired. */
    public static byte[][] ofExpired(Lease lease) {
        return new byte[][] { bytes(lease.token()), bytes(1), bytesOfName(lease.id()), bytes("expired") };
    }

    /** Returns the arguments of release.lua, with all leases due again after a delay. */
    public static byte[][] ofRelease(List<Lease> leases, Duration delay) {
        byte[] due = due(DueTime.after(delay));
        List<byte[]> arguments = new ArrayList<>(RELEASE_FIELDS * leases.size());
        leases.forEach((lease) -> arguments.addAll(List.of(bytesOfName(lease.id()), bytes(lease.token()), due)));
        return arguments.toArray(byte[][]::new);
    }

    /** Returns the arguments of release.lua, with each lease due at its earlier time. */
    public static byte[][] ofRelease(List<UnstartedLease> leases) {
        List<byte[]> arguments = new ArrayList<>(RELEASE_FIELDS * leases.size());
        leases.forEach((each) -> arguments.addAll(List.of(bytesOfName(each.lease().id()), bytes(each.lease().token()),
                bytes(each.dueAt().toEpochMilli()))));
        return arguments.toArray(byte[][]::new);
    }

    /** Returns the arguments given first, then id and token of each lease. */
    public static byte[][] idsAndTokens(List<Lease> leases, byte[]... before) {
        byte[][] arguments = new byte[before.length + 2 * leases.size()][];
        System.arraycopy(before, 0, arguments, 0, before.length);
        int at = before.length;
        for (Lease lease : leases) {
            arguments[at++] = bytesOfName(lease.id());
            arguments[at++] = bytes(lease.token());
        }
        return arguments;
    }

    /** Returns the envelope of a message after its stamp. */
    public static byte[] stamped(NewMessage message) {
        if (message.revision() == 0) {
            return stamped(message.stamp(), message.envelope());
        }
        if (message.revision() < 0 || message.revision() > NewMessage.MAX_REVISION) {
            throw new IllegalArgumentException("Revision %d of the journal is not between 1 and %d"
                .formatted(message.revision(), NewMessage.MAX_REVISION));
        }
        String digits = Long.toString(message.revision(), Character.MAX_RADIX);
        return concat(bytes("S" + "0".repeat(ScriptCodec.STAMP - 1 - digits.length()) + digits), message.envelope());
    }

    /**
     * Returns the envelope after a stamp that identifies the operation, so that a
     * repeated call is recognized. The stamp has seven random characters of 64: two sends
     * to one id share it once in 4e12.
     */
    public static byte[] stamped(long operation, byte[] envelope) {
        byte[] value = new byte[ScriptCodec.STAMP + envelope.length];
        long bits = Long.reverseBytes(operation) >>> 16;
        value[0] = 's';
        for (int i = 1; i < ScriptCodec.STAMP; i++) {
            value[i] = BASE_64_URL[(int) (bits >>> (42 - 6 * i)) & 63];
        }
        System.arraycopy(envelope, 0, value, ScriptCodec.STAMP, envelope.length);
        return value;
    }

    private static byte[] concat(byte[] stamp, byte[] envelope) {
        byte[] value = new byte[ScriptCodec.STAMP + envelope.length];
        System.arraycopy(stamp, 0, value, 0, ScriptCodec.STAMP);
        System.arraycopy(envelope, 0, value, ScriptCodec.STAMP, envelope.length);
        return value;
    }

    public static byte[] due(DueTime due) {
        return bytes(due.relative() ? "+" + due.millis() : Long.toString(due.millis()));
    }

    public static byte[] micros(Duration time) {
        return bytes(DueTime.ceilToMillis(time) * 1_000);
    }

}

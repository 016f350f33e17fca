package io.delayqueue.redis.script;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Locale;

import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.Lease;
import io.delayqueue.store.LedgerRequest;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.Offer;
import io.delayqueue.store.PartitionTarget;
import io.delayqueue.store.PrimaryPollerBid;
import io.delayqueue.store.UnstartedLease;

import static io.delayqueue.redis.script.ScriptCodec.bytes;
import static io.delayqueue.redis.script.ScriptCodec.bytesOfName;

/** Builds the arguments of scripts, as the headers of the scripts define them. */
public final class ScriptArguments {

    private static final int SEND_HEADER = 1;

    private static final int SEND_FIELDS = 3;

    private static final int SCHEDULE_HEADER = 4;

    private static final int SCHEDULE_FIELDS = 7;

    private static final int RELEASE_FIELDS = 3;

    private static final byte[] DEAD_LETTER = bytes("dead-letter");

    private static final byte[] DROP = bytes("drop");

    private ScriptArguments() {
    }

    /** Returns the arguments of send.lua. */
    public static byte[][] ofSend(PartitionTarget target, List<NewMessage> messages) {
        byte[][] arguments = new byte[SEND_HEADER + messages.size() * SEND_FIELDS][];
        arguments[0] = version(target, messages);
        int at = SEND_HEADER;
        for (NewMessage message : messages) {
            arguments[at++] = bytesOfName(message.id());
            arguments[at++] = stamped(message);
            arguments[at++] = due(message.due());
        }
        return arguments;
    }

    /** Returns the arguments of schedule.lua. */
    public static byte[][] ofSchedule(PartitionTarget target, List<NewMessage> messages, boolean ifHeld) {
        byte[][] arguments = new byte[SCHEDULE_HEADER + messages.size() * SCHEDULE_FIELDS][];
        arguments[0] = ifHeld ? bytes(target.version()) : version(target, messages);
        arguments[1] = bytes(ifHeld ? 1 : 0);
        arguments[2] = (target.offer() != null) ? bytes(target.offer().deadline()) : new byte[0];
        arguments[3] = (target.offer() != null && target.offer().failures() != null) ? bytes(target.offer().failures())
                : new byte[0];
        int at = SCHEDULE_HEADER;
        for (NewMessage message : messages) {
            arguments[at++] = bytesOfName(message.id());
            arguments[at++] = stamped(message);
            arguments[at++] = due(message.due());
            arguments[at++] = bytes((message.timeToLive() != null) ? DueTime.ceilToMillis(message.timeToLive()) : 0);
            arguments[at++] = bytes(message.priority());
            arguments[at++] = bytes(message.onDuplicate().name());
            arguments[at++] = bytesOfName((message.group() != null) ? message.group() : "");
        }
        return arguments;
    }

    /**
     * Returns the version of the sender's layout of partitions; empty if all ids are new.
     */
    private static byte[] version(PartitionTarget target, List<NewMessage> messages) {
        return messages.stream().allMatch(NewMessage::unique) ? new byte[0] : bytes(target.version());
    }

    /** Returns arguments, followed by the limits of a call of the journal, if any. */
    public static byte[][] limited(PartitionTarget target, byte[]... arguments) {
        Offer offer = target.offer();
        if (offer == null) {
            return arguments;
        }
        byte[][] limited = Arrays.copyOf(arguments, arguments.length + 2);
        limited[arguments.length] = bytes(offer.deadline());
        limited[arguments.length + 1] = bytes(offer.revision());
        return limited;
    }

    /** Returns the arguments of changes.lua. */
    public static byte[][] ofChanges(LedgerRequest request) {
        List<byte[]> arguments = new ArrayList<>(List.of(bytes(request.journal()), bytes(LedgerRequest.LIMIT),
                bytes(DueTime.ceilToMillis(request.claim())), bytes(DueTime.ceilToMillis(request.keep())),
                bytes(request.committedAt()), bytes(LedgerRequest.MAX_LOSS.toMillis())));
        request.recorded().forEach((entry) -> arguments.add(bytesOfName(entry.kindAndRevision() + " " + entry.name())));
        return arguments.toArray(byte[][]::new);
    }

    /** Returns the arguments of claim.lua. */
    public static byte[][] ofClaim(ClaimRequest request) {
        List<byte[]> arguments = new ArrayList<>(List.of(bytes(request.limit()), micros(request.leaseTime()),
                micros(request.usualLease()), (request.policy() == ExpiryPolicy.DEAD_LETTER) ? DEAD_LETTER : DROP));
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
        byte[] bits = new byte[6];
        for (int i = 0; i < bits.length; i++) {
            bits[i] = (byte) (operation >>> (8 * i));
        }
        byte[] stamp = Base64.getUrlEncoder().encode(bits);
        stamp[0] = 's';
        return concat(stamp, envelope);
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

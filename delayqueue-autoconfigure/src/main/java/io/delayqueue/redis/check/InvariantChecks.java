package io.delayqueue.redis.check;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.delayqueue.MessageLimits;
import io.delayqueue.PayloadConversionException;
import io.delayqueue.admin.Finding;
import io.delayqueue.admin.Finding.Kind;
import io.delayqueue.redis.DeadLetterCodec;
import io.delayqueue.redis.script.ScriptReplies;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionLayout;
import io.delayqueue.store.PartitionTarget;
import io.delayqueue.store.envelope.EnvelopeCodec;
import org.jspecify.annotations.Nullable;

/**
 * Checks what is stored of a message: the invariants I1 to I6 of {@code schedule.lua},
 * and whether entries can be read. Each finding includes commands for the repair.
 */
final class InvariantChecks {

    static final Pattern DETAILS = Pattern.compile("(\\d+):(\\d+):(\\d):?(.*)", Pattern.DOTALL);

    private static final Pattern ATTEMPTS = Pattern.compile("\\d+:\\d+:\\d:[a-z]:\\d+:.*", Pattern.DOTALL);

    private static final Pattern NEXT = Pattern.compile("C|S\\d+:\\d+:\\d(?::[^|]*)?\\|.{9,}", Pattern.DOTALL);

    /** Digits of the due time in a member of {@code followers}. */
    private static final int DUE_DIGITS = 15;

    private static final BigDecimal LATEST_DUE = BigDecimal.valueOf(MessageLimits.MAX_DUE_AT.toEpochMilli());

    private static final BigDecimal LONGEST_LEASE = BigDecimal.valueOf(MessageLimits.MAX_DURATION.toMillis())
        .scaleByPowerOfTen(3);

    private final Partition partition;

    private final PartitionLayout spread;

    private final RepairCommands keys;

    private final EnvelopeCodec codec;

    private final List<Finding> findings = new ArrayList<>();

    InvariantChecks(Partition partition, PartitionLayout spread, RepairCommands keys, EnvelopeCodec codec) {
        this.partition = partition;
        this.spread = spread;
        this.keys = keys;
        this.codec = codec;
    }

    List<Finding> findings() {
        return this.findings;
    }

    void add(Kind kind, @Nullable String id, String problem, String remedy, String... commands) {
        this.findings.add(new Finding(kind, this.partition.queue().value(), this.partition.index(),
                (id != null) ? shown(id) : null, problem, remedy, List.of(commands)));
    }

    /** Checks a member of a key, by the number of that key. */
    void look(int number, StoredMessageState facts) {
        switch (number) {
            case RepairCommands.MESSAGES -> message(facts);
            case RepairCommands.DETAILS, RepairCommands.ATTEMPTS, RepairCommands.RENEWED, RepairCommands.NEXT ->
                entry(number, facts);
            case RepairCommands.HEADS -> head(facts);
            case RepairCommands.FOLLOWERS -> follower(facts);
            default -> place(number, facts);
        }
    }

    /** Returns a name in one line, whatever its bytes. */
    static String shown(String raw) {
        return ScriptReplies.name(ScriptReplies.bytesOfRaw(raw));
    }

    private void message(StoredMessageState facts) {
        Matcher details = DETAILS.matcher((facts.details() != null) ? facts.details() : "");
        int lane = details.matches() ? Integer.parseInt(details.group(3)) : MessageLimits.NORMAL_PRIORITY;
        String group = groupOf(facts.details());
        boolean inAnotherLane = facts.places() == 1 && !facts.waits().isEmpty() && facts.waits().get(0).lane() != lane;
        if (facts.places() == 0) {
            String due = details.matches() ? details.group(1) : facts.now() / 1000 + "";
            add(Kind.MESSAGE_WITHOUT_PLACE, facts.id(),
                    "the message is stored, but waits nowhere and is not leased: "
                            + "it will never be handled, and find shows it as due in 1970",
                    "send it again under its id, which then begins anew; or give it a place"
                            + (details.matches() ? "" : ", due now, as nothing else is known"),
                    placing(facts, lane, due, group));
        }
        else if (facts.places() > 1) {
            severalPlaces(facts, lane, group);
        }
        else if (inAnotherLane) {
            StoredMessageState.Place place = facts.waits().get(0);
            add(Kind.WRONG_LANE, facts.id(),
                    "it waits in the lane of priority %d, and its own is %d: cancel and reschedule do not find it there"
                        .formatted(place.lane(), lane),
                    "move it", this.keys.command("ZREM", RepairCommands.ofLane(place.lane()), facts.id()),
                    this.keys.command("ZADD", RepairCommands.ofLane(lane), place.score(), facts.id()));
        }
        if (group != null && !facts.follows() && facts.places() > 0 && !facts.id().equals(facts.head())) {
            boolean settled = facts.places() == 1 && !inAnotherLane;
            notTheHead(facts, lane, group, settled ? details.group(1) : "");
        }
        envelope(facts);
        home(facts, group);
    }

    private void notTheHead(StoredMessageState facts, int lane, String group, String due) {
        String head = facts.head();
        String remedy = "first leave it in one place, its own lane";
        List<String> commands = new ArrayList<>();
        if (head == null) {
            remedy = "make it the head";
            commands.add(this.keys.command("HSET", RepairCommands.HEADS, group, facts.id()));
        }
        else if (facts.deadline() != null) {
            remedy = "none is needed if the other one waits or is leased: this one goes with its lease";
        }
        else if (!due.isEmpty() && due.length() <= DUE_DIGITS) {
            remedy = "put it behind that one, from where it comes at its turn";
            commands.add(this.keys.command("ZREM", RepairCommands.ofLane(lane), facts.id()));
            commands.add(this.keys.command("ZADD", RepairCommands.FOLLOWERS, "0", following(group, due, facts.id())));
        }
        add(Kind.NOT_THE_HEAD, facts.id(),
                "it waits or is leased although the head of its group is %s: the group is not handled in order"
                    .formatted((head != null) ? "'" + shown(head) + "'" : "nobody"),
                remedy, commands.toArray(String[]::new));
    }

    /** Returns the member of {@code followers}. */
    private static String following(String group, String due, String id) {
        return "%s %015d:%s".formatted(group, ScriptReplies.millis(due), id);
    }

    /** Returns commands that schedule a message which is stored but not scheduled. */
    private String[] placing(StoredMessageState facts, int lane, String due, @Nullable String group) {
        String waiting = this.keys.command("ZADD", RepairCommands.ofLane(lane), due, facts.id());
        if (group == null) {
            return new String[] { waiting };
        }
        if (facts.head() == null || facts.head().equals(facts.id())) {
            return new String[] { this.keys.command("HSET", RepairCommands.HEADS, group, facts.id()), waiting };
        }
        return (due.length() > DUE_DIGITS) ? new String[] {} : new String[] {
                this.keys.command("ZADD", RepairCommands.FOLLOWERS, "0", following(group, due, facts.id())) };
    }

    /**
     * Reports a message with several entries. The entry to keep is, in this order: the
     * lease, the entry behind its group unless it is the head, the lane of its priority,
     * another lane.
     */
    private void severalPlaces(StoredMessageState facts, int lane, @Nullable String group) {
        Matcher details = DETAILS.matcher((facts.details() != null) ? facts.details() : "");
        boolean behind = facts.deadline() == null && facts.follows() && facts.head() != null
                && !facts.head().equals(facts.id());
        StoredMessageState.Place own = facts.waits()
            .stream()
            .filter((place) -> place.lane() == lane)
            .findFirst()
            .orElse(facts.waits().isEmpty() ? null : facts.waits().get(0));
        List<String> commands = new ArrayList<>();
        for (StoredMessageState.Place place : facts.waits()) {
            if (facts.deadline() != null || behind || !place.equals(own)) {
                commands.add(this.keys.command("ZREM", RepairCommands.ofLane(place.lane()), facts.id()));
            }
        }
        if (facts.follows() && !behind && group != null && details.matches()) {
            commands.add(this.keys.command("ZREM", RepairCommands.FOLLOWERS,
                    following(group, details.group(1), facts.id())));
        }
        String lanes = facts.waits().stream().map((place) -> " in lane " + place.lane()).collect(Collectors.joining());
        add(Kind.SEVERAL_PLACES, facts.id(),
                "it is in %d places (%s%s%s): it may be handled twice at a time".formatted(facts.places(),
                        (facts.deadline() != null) ? "leased" : "", lanes, facts.follows() ? " behind its group" : ""),
                "leave it in one, its lease if there is one", commands.toArray(String[]::new));
    }

    private void envelope(StoredMessageState facts) {
        String reason = (facts.value().length <= ScriptReplies.STAMP) ? "it is too short" : null;
        if (reason == null) {
            try {
                this.codec.read(ScriptReplies.envelopeOf(facts.value()));
            }
            catch (PayloadConversionException ex) {
                reason = ex.getMessage();
            }
        }
        if (reason != null) {
            add(Kind.UNREADABLE_MESSAGE, facts.id(), reason + "; it becomes a dead letter when it is due",
                    "cancel it, or send it again with REPLACE");
        }
    }

    private void home(StoredMessageState facts, @Nullable String group) {
        String key = shown((group != null) ? group : facts.id());
        Set<Partition> homes = this.spread.homes(this.partition.queue(), key)
            .stream()
            .map(PartitionTarget::partition)
            .collect(Collectors.toSet());
        if (!homes.contains(this.partition)) {
            add(Kind.NOT_AT_HOME, facts.id(),
                    "its %s leads to %s: it is handled, but its id may be admitted a second time there"
                        .formatted((group != null) ? "group" : "id", homes),
                    "none is needed, unless many are: then something writes past this library");
        }
    }

    private void place(int number, StoredMessageState facts) {
        boolean leased = number == RepairCommands.LEASED;
        String score = ScriptReplies.text(facts.value());
        if (!facts.stored()) {
            boolean succeeded = leased && holdsMessage(facts.next());
            add(Kind.PLACE_WITHOUT_MESSAGE, facts.id(),
                    "it is in %s, but its message is gone".formatted(this.keys.kind(number))
                            + (leased ? "" : ": a claim makes it a dead letter with the cause 'missing'"),
                    leased ? "none is needed: it goes with its lease" : "wait for that, or remove it",
                    succeeded ? new String[] {} : new String[] { this.keys.command("ZREM", number, facts.id()) });
        }
        else if (isImpossible(score, leased, facts.now())) {
            add(Kind.IMPOSSIBLE_TIME, facts.id(),
                    leased ? "its lease ends at %s, which no worker asked for".formatted(score)
                            : "it is due at %s, which no sender asked for".formatted(score),
                    leased ? "end the lease; the command ends it now"
                            : "reschedule it to the time that is right; the command makes it due now",
                    this.keys.command("ZADD", number, "XX", leased ? facts.now() + "" : facts.now() / 1000 + "",
                            facts.id()));
        }
    }

    private static boolean isImpossible(String score, boolean leased, long now) {
        if (score.endsWith("inf") || score.endsWith("nan")) {
            return true;
        }
        BigDecimal latest = leased ? LONGEST_LEASE.add(BigDecimal.valueOf(now)) : LATEST_DUE;
        BigDecimal time = new BigDecimal(score);
        return time.signum() < 0 || time.compareTo(latest) > 0;
    }

    /**
     * Returns whether an entry of {@code next} holds a message, which removing the entry
     * would destroy.
     */
    private static boolean holdsMessage(@Nullable String next) {
        return next != null && next.startsWith("S");
    }

    private void entry(int number, StoredMessageState facts) {
        String value = ScriptReplies.raw(facts.value());
        String kind = this.keys.kind(number);
        boolean content = number == RepairCommands.NEXT && holdsMessage(value);
        String remedy = content ? "look at it: HDEL would destroy the message in it" : "remove the entry";
        String[] removal = content ? new String[] {} : new String[] { this.keys.command("HDEL", number, facts.id()) };
        boolean succeeds = content && facts.deadline() != null;
        boolean ofLease = number == RepairCommands.RENEWED || number == RepairCommands.NEXT;
        if (!facts.stored() && !(succeeds && isReadable(number, value))) {
            add(Kind.LEFTOVER, facts.id(),
                    "it has an entry in %s, and there is no such message: the next one of its id would inherit it"
                        .formatted(kind),
                    remedy, removal);
        }
        else if (ofLease && facts.deadline() == null) {
            add(Kind.NOT_LEASED, facts.id(),
                    "it has an entry in %s, and is not leased: its next lease would inherit it".formatted(kind), remedy,
                    removal);
        }
        else if (!isReadable(number, value)) {
            add(Kind.UNREADABLE_ENTRY, facts.id(), "its entry in %s cannot be read, and counts as none".formatted(kind),
                    remedy, removal);
        }
    }

    private static boolean isReadable(int number, String value) {
        return switch (number) {
            case RepairCommands.DETAILS -> DETAILS.matcher(value).matches();
            case RepairCommands.ATTEMPTS -> ATTEMPTS.matcher(value).matches();
            case RepairCommands.NEXT -> NEXT.matcher(value).matches();
            default -> value.matches("\\d+");
        };
    }

    /**
     * Checks the head of a group; the member is the group, and the id that of its head.
     */
    private void head(StoredMessageState facts) {
        String group = facts.member();
        boolean placed = facts.deadline() != null || !facts.waits().isEmpty();
        boolean own = group.equals(groupOf(facts.details()));
        if (placed && own) {
            return;
        }
        String problem = (placed ? "its head '%s' is not of this group" : "its head '%s' neither waits nor is leased")
            .formatted(shown(facts.id()));
        if (facts.stored() && own) {
            add(Kind.LOST_HEAD, group, problem + ": what follows is never handled", "give it a place in its lane",
                    facts.follows() ? promotion(group, facts) : new String[] {});
        }
        else {
            add(Kind.LOST_HEAD, group, problem + ((facts.first() != null) ? ": what follows is never handled" : ""),
                    (facts.first() != null)
                            ? "send any message to the group, which then goes on; or remove the entry, "
                                    + "and examine again: then the first follower can be made the head"
                            : "remove the entry",
                    this.keys.command("HDEL", RepairCommands.HEADS, group));
        }
    }

    /** Adds it to its lane first: until it leaves followers, it is only in both. */
    private String[] promotion(String group, StoredMessageState facts) {
        Matcher details = DETAILS.matcher((facts.details() != null) ? facts.details() : "");
        if (!details.matches()) {
            return new String[] {};
        }
        String due = details.group(1);
        int lane = RepairCommands.ofLane(Integer.parseInt(details.group(3)));
        return new String[] { this.keys.command("HSET", RepairCommands.HEADS, group, facts.id()),
                this.keys.command("ZADD", lane, due, facts.id()),
                this.keys.command("ZREM", RepairCommands.FOLLOWERS, following(group, due, facts.id())) };
    }

    private void follower(StoredMessageState facts) {
        Matcher details = DETAILS.matcher((facts.details() != null) ? facts.details() : "");
        String group = groupOf(facts.details());
        String expected = (group != null && details.matches()) ? following(group, details.group(1), facts.id()) : null;
        String removal = this.keys.command("ZREM", RepairCommands.FOLLOWERS, facts.member());
        if (!facts.stored()) {
            add(Kind.PLACE_WITHOUT_MESSAGE, facts.id(), "it waits behind its group, but its message is gone",
                    "remove it", removal);
        }
        else if (!facts.member().equals(expected)) {
            boolean elsewhere = facts.places() > 0;
            add(Kind.LOST_FOLLOWER, facts.id(),
                    "it waits behind a group as '%s', and its details say otherwise".formatted(shown(facts.member())),
                    elsewhere ? "remove it there" : "give it another place first, and examine again",
                    elsewhere ? new String[] { removal } : new String[] {});
        }
        else if (facts.head() == null) {
            boolean first = facts.member().equals(facts.first());
            add(Kind.LOST_FOLLOWER, facts.id(), "it waits behind a group that has no head: it is never handled",
                    "send any message to the group, which then goes on"
                            + (first ? "; or make this one its head, if none of the group waits or is leased"
                                    : "; it comes after others of its group"),
                    (first && group != null) ? promotion(group, facts) : new String[] {});
        }
    }

    static @Nullable String groupOf(@Nullable String details) {
        Matcher matcher = DETAILS.matcher((details != null) ? details : "");
        return (matcher.matches() && !matcher.group(4).isEmpty()) ? matcher.group(4) : null;
    }

    /** Checks a dead letter, in one of its two keys. */
    void lookAtLetter(int number, String letter, byte[] value, boolean there) {
        boolean content = number == RepairCommands.LETTERS;
        Long died = content ? diedOrNull(value) : null;
        if (content && died == null) {
            add(Kind.UNREADABLE_ENTRY, letter, "the dead letter cannot be read: it is shown without what it holds",
                    "look at it; purging it destroys what it holds");
        }
        else if (!there && died != null) {
            add(Kind.HALF_A_LETTER, letter, "the dead letter is in no list: it is neither shown nor purged",
                    "list it by the time of its death",
                    this.keys.command("ZADD", RepairCommands.DEAD, died.toString(), letter));
        }
        else if (!there) {
            add(Kind.HALF_A_LETTER, letter, "the dead letter is listed, and its content is gone", "remove it",
                    this.keys.command("ZREM", RepairCommands.DEAD, letter));
        }
    }

    private static @Nullable Long diedOrNull(byte[] value) {
        DeadLetterCodec letter = DeadLetterCodec.parse(value);
        return (letter != DeadLetterCodec.UNREADABLE) ? (Long) letter.died() : null;
    }

}

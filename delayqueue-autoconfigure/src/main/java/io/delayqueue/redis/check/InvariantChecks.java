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
import io.delayqueue.redis.DeadLetterContent;
import io.delayqueue.redis.script.ScriptCodec;
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

    private static final Pattern SUCCESSOR = Pattern.compile("C|S\\d+:\\d+:\\d(?::[^|]*)?\\|.{9,}", Pattern.DOTALL);

    /** Digits of the due time in a member of {@code waiting}. */
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
    void check(int number, StoredMessageState state) {
        switch (number) {
            case RepairCommands.MESSAGES -> message(state);
            case RepairCommands.DETAILS, RepairCommands.ATTEMPTS, RepairCommands.TOKENS, RepairCommands.SUCCESSORS ->
                entry(number, state);
            case RepairCommands.GROUP_HEADS -> head(state);
            case RepairCommands.WAITING -> waiting(state);
            default -> place(number, state);
        }
    }

    /** Returns a name in one line, whatever its bytes. */
    static String shown(String raw) {
        return ScriptCodec.name(ScriptCodec.bytesOfRaw(raw));
    }

    private void message(StoredMessageState state) {
        Matcher details = DETAILS.matcher((state.details() != null) ? state.details() : "");
        int lane = details.matches() ? Integer.parseInt(details.group(3)) : MessageLimits.NORMAL_PRIORITY;
        String group = groupOf(state.details());
        boolean inAnotherLane = state.places() == 1 && !state.waits().isEmpty() && state.waits().get(0).lane() != lane;
        if (state.places() == 0) {
            String due = details.matches() ? details.group(1) : state.now() / 1000 + "";
            add(Kind.UNSCHEDULED_MESSAGE, state.id(),
                    "the message is stored, but waits nowhere and is not leased: "
                            + "it will never be handled, and find shows it as due in 1970",
                    "send it again under its id, which then begins anew; or give it a place"
                            + (details.matches() ? "" : ", due now, as nothing else is known"),
                    placing(state, lane, due, group));
        }
        else if (state.places() > 1) {
            severalPlaces(state, lane, group);
        }
        else if (inAnotherLane) {
            StoredMessageState.LaneEntry place = state.waits().get(0);
            add(Kind.WRONG_LANE, state.id(),
                    "it waits in the lane of priority %d, and its own is %d: cancel and reschedule do not find it there"
                        .formatted(place.lane(), lane),
                    "move it", this.keys.command("ZREM", RepairCommands.ofLane(place.lane()), state.id()),
                    this.keys.addToLane(lane, place.score(), state.id()));
        }
        if (group != null && !state.waitsInGroup() && state.places() > 0 && !state.id().equals(state.head())) {
            boolean settled = state.places() == 1 && !inAnotherLane;
            notTheHead(state, lane, group, settled ? details.group(1) : "");
        }
        envelope(state);
        home(state, group);
    }

    private void notTheHead(StoredMessageState state, int lane, String group, String due) {
        String head = state.head();
        String remedy = "first leave it in one place, its own lane";
        List<String> commands = new ArrayList<>();
        if (head == null) {
            remedy = "make it the head";
            commands.add(this.keys.command("HSET", RepairCommands.GROUP_HEADS, group, state.id()));
        }
        else if (state.deadline() != null) {
            remedy = "none is needed if the other one waits or is leased: this one goes with its lease";
        }
        else if (!due.isEmpty() && due.length() <= DUE_DIGITS) {
            remedy = "put it behind that one, from where it comes at its turn";
            commands.add(this.keys.command("ZREM", RepairCommands.ofLane(lane), state.id()));
            commands.add(this.keys.command("ZADD", RepairCommands.WAITING, "0", following(group, due, state.id())));
        }
        add(Kind.NOT_GROUP_HEAD, state.id(),
                "it waits or is leased although the head of its group is %s: the group is not handled in order"
                    .formatted((head != null) ? "'" + shown(head) + "'" : "nobody"),
                remedy, commands.toArray(String[]::new));
    }

    /** Returns the member of {@code waiting}. */
    private static String following(String group, String due, String id) {
        return "%s %015d:%s".formatted(group, ScriptCodec.millis(due), id);
    }

    /** Returns commands that schedule a message which is stored but not scheduled. */
    private String[] placing(StoredMessageState state, int lane, String due, @Nullable String group) {
        String waiting = this.keys.addToLane(lane, due, state.id());
        if (group == null) {
            return new String[] { waiting };
        }
        if (state.head() == null || state.head().equals(state.id())) {
            return new String[] { this.keys.command("HSET", RepairCommands.GROUP_HEADS, group, state.id()), waiting };
        }
        return (due.length() > DUE_DIGITS) ? new String[] {} : new String[] {
                this.keys.command("ZADD", RepairCommands.WAITING, "0", following(group, due, state.id())) };
    }

    /**
     * Reports a message with several entries. The entry to keep is, in this order: the
     * lease, the entry behind its group unless it is the head, the lane of its priority,
     * another lane.
     */
    private void severalPlaces(StoredMessageState state, int lane, @Nullable String group) {
        Matcher details = DETAILS.matcher((state.details() != null) ? state.details() : "");
        boolean behind = state.deadline() == null && state.waitsInGroup() && state.head() != null
                && !state.head().equals(state.id());
        StoredMessageState.LaneEntry own = state.waits()
            .stream()
            .filter((place) -> place.lane() == lane)
            .findFirst()
            .orElse(state.waits().isEmpty() ? null : state.waits().get(0));
        List<String> commands = new ArrayList<>();
        for (StoredMessageState.LaneEntry place : state.waits()) {
            if (state.deadline() != null || behind || !place.equals(own)) {
                commands.add(this.keys.command("ZREM", RepairCommands.ofLane(place.lane()), state.id()));
            }
        }
        if (state.waitsInGroup() && !behind && group != null && details.matches()) {
            commands
                .add(this.keys.command("ZREM", RepairCommands.WAITING, following(group, details.group(1), state.id())));
        }
        String lanes = state.waits().stream().map((place) -> " in lane " + place.lane()).collect(Collectors.joining());
        add(Kind.SEVERAL_PLACES, state.id(),
                "it is in %d places (%s%s%s): it may be handled twice at a time".formatted(state.places(),
                        (state.deadline() != null) ? "leased" : "", lanes,
                        state.waitsInGroup() ? " behind its group" : ""),
                "leave it in one, its lease if there is one", commands.toArray(String[]::new));
    }

    private void envelope(StoredMessageState state) {
        String reason = (state.value().length <= ScriptCodec.STAMP) ? "it is too short" : null;
        if (reason == null) {
            try {
                this.codec.read(ScriptCodec.envelopeOf(state.value()));
            }
            catch (PayloadConversionException ex) {
                reason = ex.getMessage();
            }
        }
        if (reason != null) {
            add(Kind.UNREADABLE_MESSAGE, state.id(), reason + "; it becomes a dead letter when it is due",
                    "cancel it, or send it again with REPLACE");
        }
    }

    private void home(StoredMessageState state, @Nullable String group) {
        String key = shown((group != null) ? group : state.id());
        Set<Partition> homes = this.spread.targets(this.partition.queue(), key)
            .stream()
            .map(PartitionTarget::partition)
            .collect(Collectors.toSet());
        if (!homes.contains(this.partition)) {
            add(Kind.WRONG_PARTITION, state.id(),
                    "its %s leads to %s: it is handled, but its id may be admitted a second time there"
                        .formatted((group != null) ? "group" : "id", homes),
                    "none is needed, unless many are: then something writes past this library");
        }
    }

    private void place(int number, StoredMessageState state) {
        boolean leased = number == RepairCommands.LEASED;
        String score = ScriptCodec.text(state.value());
        if (!state.stored()) {
            boolean succeeded = leased && holdsMessage(state.successor());
            add(Kind.MISSING_CONTENT, state.id(),
                    "it is in %s, but its message is gone".formatted(this.keys.kind(number))
                            + (leased ? "" : ": a claim makes it a dead letter with the cause 'missing'"),
                    leased ? "none is needed: it goes with its lease" : "wait for that, or remove it",
                    succeeded ? new String[] {} : new String[] { this.keys.command("ZREM", number, state.id()) });
        }
        else if (isImpossible(score, leased, state.now())) {
            add(Kind.IMPOSSIBLE_TIME, state.id(),
                    leased ? "its lease ends at %s, which no worker asked for".formatted(score)
                            : "it is due at %s, which no sender asked for".formatted(score),
                    leased ? "end the lease; the command ends it now"
                            : "reschedule it to the time that is right; the command makes it due now",
                    leased ? this.keys.command("ZADD", number, "XX", state.now() + "", state.id())
                            : this.keys.addToLane(state.waits().get(0).lane(), state.now() / 1000 + "", state.id()));
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
     * Returns whether an entry of {@code successors} holds a message, which removing the
     * entry would destroy.
     */
    private static boolean holdsMessage(@Nullable String successor) {
        return successor != null && successor.startsWith("S");
    }

    private void entry(int number, StoredMessageState state) {
        String value = ScriptCodec.raw(state.value());
        String kind = this.keys.kind(number);
        boolean content = number == RepairCommands.SUCCESSORS && holdsMessage(value);
        String remedy = content ? "look at it: HDEL would destroy the message in it" : "remove the entry";
        String[] removal = content ? new String[] {} : new String[] { this.keys.command("HDEL", number, state.id()) };
        boolean succeeds = content && state.deadline() != null;
        boolean ofLease = number == RepairCommands.TOKENS || number == RepairCommands.SUCCESSORS;
        if (!state.stored() && !(succeeds && isReadable(number, value))) {
            add(Kind.ORPHANED_ENTRY, state.id(),
                    "it has an entry in %s, and there is no such message: the next one of its id would inherit it"
                        .formatted(kind),
                    remedy, removal);
        }
        else if (ofLease && state.deadline() == null) {
            add(Kind.NOT_LEASED, state.id(),
                    "it has an entry in %s, and is not leased: its next lease would inherit it".formatted(kind), remedy,
                    removal);
        }
        else if (!isReadable(number, value)) {
            add(Kind.UNREADABLE_ENTRY, state.id(), "its entry in %s cannot be read, and counts as none".formatted(kind),
                    remedy, removal);
        }
    }

    private static boolean isReadable(int number, String value) {
        return switch (number) {
            case RepairCommands.DETAILS -> DETAILS.matcher(value).matches();
            case RepairCommands.ATTEMPTS -> ATTEMPTS.matcher(value).matches();
            case RepairCommands.SUCCESSORS -> SUCCESSOR.matcher(value).matches();
            default -> value.matches("\\d+");
        };
    }

    /**
     * Checks the head of a group; the member is the group, and the id that of its head.
     */
    private void head(StoredMessageState state) {
        String group = state.member();
        boolean placed = state.deadline() != null || !state.waits().isEmpty();
        boolean own = group.equals(groupOf(state.details()));
        if (placed && own) {
            return;
        }
        String problem = (placed ? "its head '%s' is not of this group" : "its head '%s' neither waits nor is leased")
            .formatted(shown(state.id()));
        if (state.stored() && own) {
            add(Kind.GROUP_HEAD_MISSING, group, problem + ": what follows is never handled",
                    "give it a place in its lane", state.waitsInGroup() ? promotion(group, state) : new String[] {});
        }
        else {
            add(Kind.GROUP_HEAD_MISSING, group,
                    problem + ((state.first() != null) ? ": what follows is never handled" : ""),
                    (state.first() != null)
                            ? "send any message to the group, which then goes on; or remove the entry, "
                                    + "and examine again: then the first follower can be made the head"
                            : "remove the entry",
                    this.keys.command("HDEL", RepairCommands.GROUP_HEADS, group));
        }
    }

    /** Adds it to its lane first: until it leaves followers, it is only in both. */
    private String[] promotion(String group, StoredMessageState state) {
        Matcher details = DETAILS.matcher((state.details() != null) ? state.details() : "");
        if (!details.matches()) {
            return new String[] {};
        }
        String due = details.group(1);
        int lane = Integer.parseInt(details.group(3));
        return new String[] { this.keys.command("HSET", RepairCommands.GROUP_HEADS, group, state.id()),
                this.keys.addToLane(lane, due, state.id()),
                this.keys.command("ZREM", RepairCommands.WAITING, following(group, due, state.id())) };
    }

    private void waiting(StoredMessageState state) {
        Matcher details = DETAILS.matcher((state.details() != null) ? state.details() : "");
        String group = groupOf(state.details());
        String expected = (group != null && details.matches()) ? following(group, details.group(1), state.id()) : null;
        String removal = this.keys.command("ZREM", RepairCommands.WAITING, state.member());
        if (!state.stored()) {
            add(Kind.MISSING_CONTENT, state.id(), "it waits behind its group, but its message is gone", "remove it",
                    removal);
        }
        else if (!state.member().equals(expected)) {
            boolean elsewhere = state.places() > 0;
            add(Kind.STRANDED_IN_GROUP, state.id(),
                    "it waits behind a group as '%s', and its details say otherwise".formatted(shown(state.member())),
                    elsewhere ? "remove it there" : "give it another place first, and examine again",
                    elsewhere ? new String[] { removal } : new String[] {});
        }
        else if (state.head() == null) {
            boolean first = state.member().equals(state.first());
            add(Kind.STRANDED_IN_GROUP, state.id(), "it waits behind a group that has no head: it is never handled",
                    "send any message to the group, which then goes on"
                            + (first ? "; or make this one its head, if none of the group waits or is leased"
                                    : "; it comes after others of its group"),
                    (first && group != null) ? promotion(group, state) : new String[] {});
        }
    }

    static @Nullable String groupOf(@Nullable String details) {
        Matcher matcher = DETAILS.matcher((details != null) ? details : "");
        return (matcher.matches() && !matcher.group(4).isEmpty()) ? matcher.group(4) : null;
    }

    /** Checks a dead letter, in one of its two keys. */
    void checkDeadLetter(int number, String letter, byte[] value, boolean there) {
        boolean content = number == RepairCommands.DEAD_LETTERS;
        Long died = content ? diedOrNull(value) : null;
        if (content && died == null) {
            add(Kind.UNREADABLE_ENTRY, letter, "the dead letter cannot be read: it is shown without what it holds",
                    "look at it; purging it destroys what it holds");
        }
        else if (!there && died != null) {
            add(Kind.INCOMPLETE_DEAD_LETTER, letter, "the dead letter is in no list: it is neither shown nor purged",
                    "list it by the time of its death",
                    this.keys.command("ZADD", RepairCommands.DEAD_ORDER, died.toString(), letter));
        }
        else if (!there) {
            add(Kind.INCOMPLETE_DEAD_LETTER, letter, "the dead letter is listed, and its content is gone", "remove it",
                    this.keys.command("ZREM", RepairCommands.DEAD_ORDER, letter));
        }
    }

    private static @Nullable Long diedOrNull(byte[] value) {
        DeadLetterContent letter = DeadLetterContent.parse(value);
        return (letter != DeadLetterContent.UNREADABLE) ? (Long) letter.deadLetteredAt() : null;
    }

}

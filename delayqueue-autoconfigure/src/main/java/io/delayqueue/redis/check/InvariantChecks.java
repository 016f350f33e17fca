package io.delayqueue.redis.check;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.delayqueue.MessageLimits;
import io.delayqueue.PayloadConversionException;
import io.delayqueue.admin.Finding;
import io.delayqueue.admin.Finding.Kind;
import io.delayqueue.redis.DeadLetterContent;
import io.delayqueue.redis.check.StoredMessageState.Details;
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

    private static final Pattern ATTEMPTS = Pattern.compile("\\d+:\\d+:\\d:[a-z]:\\d+:.*", Pattern.DOTALL);

    private static final Pattern SUCCESSOR = Pattern.compile("C|S\\d+:\\d+:\\d(?::[^|]*)?\\|.{9,}", Pattern.DOTALL);

    /** Digits of the due time in a member of {@code waiting}. */
    private static final int DUE_DIGITS = 15;

    private static final BigDecimal MAX_DUE = BigDecimal.valueOf(MessageLimits.MAX_DUE_AT.toEpochMilli());

    private static final BigDecimal MAX_LEASE = BigDecimal.valueOf(MessageLimits.MAX_DURATION.toMillis())
        .scaleByPowerOfTen(3);

    private final Partition partition;

    private final PartitionLayout layout;

    private final RepairCommands keys;

    private final EnvelopeCodec codec;

    private final List<Finding> findings = new ArrayList<>();

    InvariantChecks(Partition partition, PartitionLayout layout, RepairCommands keys, EnvelopeCodec codec) {
        this.partition = partition;
        this.layout = layout;
        this.keys = keys;
        this.codec = codec;
    }

    List<Finding> findings() {
        return this.findings;
    }

    void add(Kind kind, @Nullable String id, String problem, String remedy, List<String> commands) {
        this.findings.add(new Finding(kind, this.partition.queue().value(), this.partition.index(),
                (id != null) ? shown(id) : null, problem, remedy, commands));
    }

    /** Checks a member of a key. */
    void check(KeyKind key, StoredMessageState state) {
        switch (key) {
            case MESSAGES -> message(state);
            case DETAILS, ATTEMPTS, TOKENS, SUCCESSORS, REVISIONS -> entry(key, state);
            case GROUP_HEADS -> head(state);
            case WAITING -> waiting(state);
            default -> laneOrLease(key, state);
        }
    }

    /** Returns a name in one line, whatever its bytes. */
    static String shown(String raw) {
        return ScriptCodec.name(ScriptCodec.bytesOfRaw(raw));
    }

    private void message(StoredMessageState state) {
        int lane = state.lane();
        boolean inAnotherLane = state.places() == 1 && !state.waits().isEmpty() && state.waits().get(0).lane() != lane;
        if (state.places() == 0) {
            add(Kind.UNSCHEDULED_MESSAGE, state.id(),
                    "the message is stored, but waits nowhere and is not leased: "
                            + "it will never be handled, and find shows it as due in 1970",
                    "send it again under its id, as a new message; or schedule it"
                            + ((state.details() != null) ? "" : ", due now, as nothing else is known"),
                    scheduling(state));
        }
        else if (state.places() > 1) {
            severalEntries(state);
        }
        else if (inAnotherLane) {
            StoredMessageState.LaneEntry place = state.waits().get(0);
            add(Kind.WRONG_LANE, state.id(),
                    "it waits in the lane of priority %d, and its own is %d: cancel and reschedule do not find it there"
                        .formatted(place.lane(), lane),
                    "move it", List.of(this.keys.remove(KeyKind.ofLane(place.lane()), state.id()),
                            this.keys.addToLane(lane, place.score(), state.id())));
        }
        if (!state.waitsInGroup() && state.places() > 0 && !state.isHead()) {
            notTheHead(state, state.places() == 1 && !inAnotherLane);
        }
        envelope(state);
        partition(state);
    }

    /**
     * Reports a message of a group that may be claimed although it is not the head.
     * @param settled whether it is in one place, and that is right
     */
    private void notTheHead(StoredMessageState state, boolean settled) {
        Details details = state.details();
        if (details == null || details.group() == null) {
            return;
        }
        String head = state.head();
        String remedy = "first leave it in one place, its own lane";
        List<String> commands = List.of();
        if (head == null) {
            remedy = "make it the head";
            commands = List.of(this.keys.command("HSET", KeyKind.GROUP_HEADS, details.group(), state.id()));
        }
        else if (state.isLeased()) {
            remedy = "none is needed if the other one waits or is leased: this one is removed when its lease ends";
        }
        else if (settled && details.due().length() <= DUE_DIGITS) {
            remedy = "move it behind the head, where it waits in its group";
            commands = List.of(this.keys.remove(KeyKind.ofLane(details.lane()), state.id()),
                    this.keys.command("ZADD", KeyKind.WAITING, "0", waitingMember(details, state.id())));
        }
        add(Kind.NOT_GROUP_HEAD, state.id(),
                "it waits or is leased although %s: the group is not handled in order".formatted(
                        (head != null) ? "the head of its group is '" + shown(head) + "'" : "its group has no head"),
                remedy, commands);
    }

    /** Returns the member of {@code waiting}. */
    private static String waitingMember(Details details, String id) {
        return "%s %015d:%s".formatted(details.group(), ScriptCodec.millis(details.due()), id);
    }

    /** Returns commands that schedule a message which is stored but not scheduled. */
    private List<String> scheduling(StoredMessageState state) {
        Details details = state.details();
        String due = (details != null) ? details.due() : Long.toString(state.now() / 1000);
        String inLane = this.keys.addToLane(state.lane(), due, state.id());
        if (details == null || details.group() == null) {
            return List.of(inLane);
        }
        if (state.head() == null || state.isHead()) {
            return List.of(this.keys.command("HSET", KeyKind.GROUP_HEADS, details.group(), state.id()), inLane);
        }
        return (due.length() > DUE_DIGITS) ? List.of()
                : List.of(this.keys.command("ZADD", KeyKind.WAITING, "0", waitingMember(details, state.id())));
    }

    /**
     * Reports a message with several entries. The entry to keep is, in this order: the
     * lease, the entry behind its group unless it is the head, the lane of its priority,
     * another lane.
     */
    private void severalEntries(StoredMessageState state) {
        boolean behind = !state.isLeased() && state.waitsInGroup() && state.head() != null && !state.isHead();
        StoredMessageState.LaneEntry own = state.waits()
            .stream()
            .filter((place) -> place.lane() == state.lane())
            .findFirst()
            .orElse(state.waits().isEmpty() ? null : state.waits().get(0));
        List<String> commands = new ArrayList<>();
        for (StoredMessageState.LaneEntry place : state.waits()) {
            if (state.isLeased() || behind || !place.equals(own)) {
                commands.add(this.keys.remove(KeyKind.ofLane(place.lane()), state.id()));
            }
        }
        if (state.waitsInGroup() && !behind && state.details() != null && state.group() != null) {
            commands.add(this.keys.remove(KeyKind.WAITING, waitingMember(state.details(), state.id())));
        }
        String lanes = state.waits().stream().map((place) -> " in lane " + place.lane()).collect(Collectors.joining());
        add(Kind.SEVERAL_PLACES, state.id(),
                "it is in %d places (%s%s%s): it may be handled twice at a time".formatted(state.places(),
                        state.isLeased() ? "leased" : "", lanes, state.waitsInGroup() ? " behind its group" : ""),
                "leave it in one, its lease if there is one", commands);
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
            catch (RuntimeException | StackOverflowError | LinkageError ex) {
                reason = "The codec fails with " + ex.getClass().getName();
            }
        }
        if (reason != null) {
            add(Kind.UNREADABLE_MESSAGE, state.id(), reason + "; it becomes a dead letter when it is due",
                    "cancel it, or send it again with REPLACE", List.of());
        }
    }

    private void partition(StoredMessageState state) {
        String group = state.group();
        String key = shown((group != null) ? group : state.id());
        Set<Partition> targets = this.layout.targets(this.partition.queue(), key)
            .stream()
            .map(PartitionTarget::partition)
            .collect(Collectors.toSet());
        if (!targets.contains(this.partition)) {
            add(Kind.WRONG_PARTITION, state.id(),
                    "its %s leads to %s: it is handled, but its id may be admitted a second time there"
                        .formatted((group != null) ? "group" : "id", targets),
                    "none is needed, unless many are: then something writes past this library", List.of());
        }
    }

    private void laneOrLease(KeyKind key, StoredMessageState state) {
        boolean leased = key == KeyKind.LEASED;
        String score = ScriptCodec.text(state.value());
        if (!state.stored()) {
            boolean succeeded = leased && holdsMessage(state.successor());
            add(Kind.MISSING_CONTENT, state.id(), "it is in %s, but its message is gone".formatted(this.keys
                .lastPart(key)) + (leased ? "" : ": a claim makes it a dead letter with the cause 'missing'"), leased
                        ? "none is needed: it is removed when it is settled; if its lease lapses, a claim dead-letters it with the cause 'missing'"
                        : "wait for that, or remove it",
                    succeeded ? List.of() : List.of(this.keys.remove(key, state.id())));
        }
        else if (isImpossible(score, leased, state.now())) {
            add(Kind.IMPOSSIBLE_TIME, state.id(),
                    leased ? "its lease ends at %s, which no worker asked for".formatted(score)
                            : "it is due at %s, which no sender asked for".formatted(score),
                    leased ? "end the lease; the command ends it now"
                            : "reschedule it to the time that is right; the command makes it due now",
                    List.of(leased ? this.keys.command("ZADD", key, "XX", state.now() + "", state.id())
                            : this.keys.moveInLane(state.waits().get(0).lane(), state.now() / 1000 + "", state.id())));
        }
    }

    private static boolean isImpossible(String score, boolean leased, long now) {
        if (score.endsWith("inf") || score.endsWith("nan")) {
            return true;
        }
        BigDecimal latest = leased ? MAX_LEASE.add(BigDecimal.valueOf(now)) : MAX_DUE;
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

    private void entry(KeyKind key, StoredMessageState state) {
        String value = ScriptCodec.raw(state.value());
        String name = this.keys.lastPart(key);
        boolean content = key == KeyKind.SUCCESSORS && holdsMessage(value);
        String remedy = content ? "inspect it: HDEL would destroy the message in it" : "remove the entry";
        List<String> removal = content ? List.of() : List.of(this.keys.remove(key, state.id()));
        boolean succeeds = content && state.isLeased();
        boolean ofLease = key == KeyKind.TOKENS || key == KeyKind.SUCCESSORS;
        if (!state.stored() && !(succeeds && isReadable(key, value))) {
            add(Kind.ORPHANED_ENTRY, state.id(),
                    "it has an entry in %s, and there is no such message: the next one of its id would inherit it"
                        .formatted(name),
                    remedy, removal);
        }
        else if (ofLease && !state.isLeased()) {
            add(Kind.NOT_LEASED, state.id(),
                    "it has an entry in %s, and is not leased: its next lease would inherit it".formatted(name), remedy,
                    removal);
        }
        else if (!isReadable(key, value)) {
            add(Kind.UNREADABLE_ENTRY, state.id(), "its entry in %s cannot be read, and counts as none".formatted(name),
                    remedy, removal);
        }
    }

    private static boolean isReadable(KeyKind key, String value) {
        return switch (key) {
            case DETAILS -> Details.parse(value) != null;
            case ATTEMPTS -> ATTEMPTS.matcher(value).matches();
            case SUCCESSORS -> SUCCESSOR.matcher(value).matches();
            case REVISIONS -> value.matches("-?\\d+"); // or a duplicate window
            default -> value.matches("\\d+");
        };
    }

    /**
     * Checks the head of a group; the member is the group, and the id that of its head.
     */
    private void head(StoredMessageState state) {
        String group = state.member();
        boolean placed = state.isLeased() || !state.waits().isEmpty();
        boolean own = group.equals(state.group());
        if (placed && own) {
            return;
        }
        String problem = (placed ? "its head '%s' is not of this group" : "its head '%s' neither waits nor is leased")
            .formatted(shown(state.id()));
        if (state.stored() && own) {
            add(Kind.GROUP_HEAD_MISSING, group, problem + ": the messages that wait in the group are never handled",
                    "add it to its lane", state.waitsInGroup() ? promotion(state) : List.of());
        }
        else {
            add(Kind.GROUP_HEAD_MISSING, group, problem
                    + ((state.first() != null) ? ": the messages that wait in the group are never handled" : ""),
                    (state.first() != null)
                            ? "send any message to the group, which makes the group continue; or remove the entry, "
                                    + "and check again: then the first waiting message can be made the head"
                            : "remove the entry",
                    List.of(this.keys.remove(KeyKind.GROUP_HEADS, group)));
        }
    }

    /**
     * Adds it to its lane first: until it is removed from {@code waiting}, it is in both.
     */
    private List<String> promotion(StoredMessageState state) {
        Details details = state.details();
        if (details == null || details.group() == null) {
            return List.of();
        }
        return List.of(this.keys.command("HSET", KeyKind.GROUP_HEADS, details.group(), state.id()),
                this.keys.addToLane(details.lane(), details.due(), state.id()),
                this.keys.remove(KeyKind.WAITING, waitingMember(details, state.id())));
    }

    private void waiting(StoredMessageState state) {
        Details details = state.details();
        String expected = (details != null && details.group() != null) ? waitingMember(details, state.id()) : null;
        List<String> removal = List.of(this.keys.remove(KeyKind.WAITING, state.member()));
        if (!state.stored()) {
            add(Kind.MISSING_CONTENT, state.id(), "it waits behind its group, but its message is gone", "remove it",
                    removal);
        }
        else if (!state.member().equals(expected)) {
            boolean elsewhere = state.places() > 0;
            add(Kind.STRANDED_IN_GROUP, state.id(),
                    "it waits behind a group as '%s', and its details say otherwise".formatted(shown(state.member())),
                    elsewhere ? "remove it there" : "give it another place first, and check again",
                    elsewhere ? removal : List.of());
        }
        else if (state.head() == null) {
            boolean first = state.member().equals(state.first());
            add(Kind.STRANDED_IN_GROUP, state.id(), "it waits behind a group that has no head: it is never handled",
                    "send any message to the group, which makes the group continue"
                            + (first ? "; or make this one its head, if none of the group waits or is leased"
                                    : "; it comes after others of its group"),
                    first ? promotion(state) : List.of());
        }
    }

    /** Checks a dead letter, in one of its two keys. */
    void checkDeadLetter(KeyKind key, String deadLetter, byte[] value, boolean there) {
        boolean content = key == KeyKind.DEAD_LETTERS;
        Long deadLettered = content ? deadLetteredOrNull(value) : null;
        if (content && deadLettered == null) {
            add(Kind.UNREADABLE_ENTRY, deadLetter, "the dead letter cannot be read: it is shown without what it holds",
                    "inspect it; purging it destroys what it holds", List.of());
        }
        else if (!there && deadLettered != null) {
            add(Kind.INCOMPLETE_DEAD_LETTER, deadLetter,
                    "the dead letter is in no list: it is neither shown nor purged",
                    "list it by the time at which it was dead-lettered",
                    List.of(this.keys.command("ZADD", KeyKind.DEAD_ORDER, deadLettered.toString(), deadLetter)));
        }
        else if (!there) {
            add(Kind.INCOMPLETE_DEAD_LETTER, deadLetter, "the dead letter is listed, and its content is gone",
                    "remove it", List.of(this.keys.remove(KeyKind.DEAD_ORDER, deadLetter)));
        }
    }

    private static @Nullable Long deadLetteredOrNull(byte[] value) {
        DeadLetterContent deadLetter = DeadLetterContent.parse(value);
        return (deadLetter != DeadLetterContent.UNREADABLE) ? (Long) deadLetter.deadLetteredAt() : null;
    }

}

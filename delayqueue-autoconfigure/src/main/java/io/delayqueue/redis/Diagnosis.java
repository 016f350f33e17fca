package io.delayqueue.redis;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.delayqueue.Finding;
import io.delayqueue.Finding.Kind;
import io.delayqueue.MessageLimits;
import io.delayqueue.PayloadConversionException;
import io.delayqueue.engine.EnvelopeCodec;
import io.delayqueue.engine.Home;
import io.delayqueue.engine.Partition;
import io.delayqueue.engine.Partitions;
import org.jspecify.annotations.Nullable;

/**
 * Says what is wrong with what is known of a message, and what would repair it: the
 * invariants I1 to I6 of {@code schedule.lua}, and whether entries can be read.
 */
final class Diagnosis {

    static final Pattern DETAILS = Pattern.compile("(\\d+):(\\d+):(\\d)(?::(.*))?", Pattern.DOTALL);

    private static final Pattern ATTEMPTS = Pattern.compile("\\d+:\\d+:\\d:[a-z]:\\d+:.*", Pattern.DOTALL);

    private static final Pattern NEXT = Pattern.compile("C|S\\d+:\\d+:\\d(?::[^|]*)?\\|.{9,}", Pattern.DOTALL);

    private static final BigDecimal LATEST_DUE = BigDecimal.valueOf(MessageLimits.MAX_DUE_AT.toEpochMilli());

    private static final BigDecimal LONGEST_LEASE = BigDecimal.valueOf(MessageLimits.MAX_DURATION.toMillis())
        .scaleByPowerOfTen(3);

    private final Partition partition;

    private final Partitions spread;

    private final KeyCommands keys;

    private final EnvelopeCodec codec;

    private final List<Finding> findings = new ArrayList<>();

    Diagnosis(Partition partition, Partitions spread, KeyCommands keys, EnvelopeCodec codec) {
        this.partition = partition;
        this.spread = spread;
        this.keys = keys;
        this.codec = codec;
    }

    List<Finding> findings() {
        return this.findings;
    }

    void add(Kind kind, @Nullable String id, String problem, String remedy, String... commands) {
        this.findings.add(new Finding(kind, this.partition.queue().value(), this.partition.index(), id, problem, remedy,
                List.of(commands)));
    }

    /** Looks at a member of a key, by the number of that key. */
    void look(int number, Facts facts) {
        switch (number) {
            case KeyCommands.MESSAGES -> message(facts);
            case KeyCommands.DETAILS, KeyCommands.ATTEMPTS, KeyCommands.RENEWED, KeyCommands.NEXT ->
                entry(number, facts);
            case KeyCommands.HEADS -> head(facts);
            case KeyCommands.FOLLOWERS -> follower(facts);
            default -> place(number, facts);
        }
    }

    private void message(Facts facts) {
        Matcher details = DETAILS.matcher((facts.details() != null) ? facts.details() : "0:0:4");
        int lane = details.matches() ? Integer.parseInt(details.group(3)) : MessageLimits.NORMAL_PRIORITY;
        String group = details.matches() ? details.group(4) : null;
        if (facts.places() == 0) {
            String due = (facts.details() != null && details.matches()) ? details.group(1) : facts.now() / 1000 + "";
            String[] commands = (group == null)
                    ? new String[] { this.keys.command("ZADD", KeyCommands.ofLane(lane), due, facts.id()) }
                    : new String[] {};
            add(Kind.MESSAGE_WITHOUT_PLACE, facts.id(),
                    "the message is stored, but waits nowhere and is not leased: "
                            + "it will never be handled, and find shows it as due in 1970",
                    "send it again under its id, which then begins anew; or give it a place", commands);
        }
        else if (facts.places() > 1) {
            severalPlaces(facts, lane);
        }
        else if (!facts.waits().isEmpty() && facts.waits().get(0).lane() != lane) {
            Facts.Place place = facts.waits().get(0);
            add(Kind.WRONG_LANE, facts.id(),
                    "it waits in the lane of priority %d, and its own is %d: cancel and reschedule do not find it there"
                        .formatted(place.lane(), lane),
                    "move it", this.keys.command("ZREM", KeyCommands.ofLane(place.lane()), facts.id()),
                    this.keys.command("ZADD", KeyCommands.ofLane(lane), place.score(), facts.id()));
        }
        if (group != null && !facts.follows() && facts.places() > 0 && !facts.id().equals(facts.head())) {
            add(Kind.NOT_THE_HEAD, facts.id(),
                    "it waits or is leased although the head of its group is %s: the group is not handled in order"
                        .formatted((facts.head() != null) ? "'" + facts.head() + "'" : "nobody"),
                    "make it the head, if the other one is gone",
                    this.keys.command("HSET", KeyCommands.HEADS, group, facts.id()));
        }
        envelope(facts);
        home(facts, group);
    }

    /** A lease counts more than a lane, and the right lane more than another. */
    private void severalPlaces(Facts facts, int lane) {
        List<String> commands = new ArrayList<>();
        boolean kept = facts.deadline() != null;
        for (Facts.Place place : facts.waits()) {
            boolean keep = !kept && (place.lane() == lane || facts.waits().size() == 1);
            if (!keep) {
                commands.add(this.keys.command("ZREM", KeyCommands.ofLane(place.lane()), facts.id()));
            }
            kept = kept || keep;
        }
        String lanes = facts.waits().stream().map((place) -> " in lane " + place.lane()).collect(Collectors.joining());
        add(Kind.SEVERAL_PLACES, facts.id(),
                "it is in %d places (%s%s%s): it may be handled twice at a time".formatted(facts.places(),
                        (facts.deadline() != null) ? "leased" : "", lanes, facts.follows() ? " behind its group" : ""),
                "leave it in one, its lease if there is one", commands.toArray(String[]::new));
    }

    private void envelope(Facts facts) {
        String reason = (facts.value().length <= Replies.STAMP) ? "it is too short" : null;
        if (reason == null) {
            try {
                this.codec.read(Replies.envelopeOf(facts.value()));
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

    private void home(Facts facts, @Nullable String group) {
        String key = (group != null) ? group : facts.id();
        Set<Partition> homes = this.spread.homes(this.partition.queue(), key)
            .stream()
            .map(Home::partition)
            .collect(Collectors.toSet());
        if (!homes.contains(this.partition)) {
            add(Kind.NOT_AT_HOME, facts.id(),
                    "its %s leads to %s: it is handled, but its id may be admitted a second time there"
                        .formatted((group != null) ? "group" : "id", homes),
                    "none is needed, unless many are: then something writes past this library");
        }
    }

    private void place(int number, Facts facts) {
        boolean leased = number == KeyCommands.LEASED;
        String score = Replies.text(facts.value());
        if (!facts.stored()) {
            add(Kind.PLACE_WITHOUT_MESSAGE, facts.id(),
                    "it is in %s, but its message is gone".formatted(this.keys.kind(number))
                            + (leased ? "" : ": a claim makes it a dead letter with the cause 'missing'"),
                    leased ? "none is needed: it goes with its lease" : "wait for that, or remove it",
                    this.keys.command("ZREM", number, facts.id()));
        }
        if (isImpossible(score, leased, facts.now())) {
            add(Kind.IMPOSSIBLE_TIME, facts.id(),
                    leased ? "its lease ends at %s, which no worker asked for".formatted(score)
                            : "it is due at %s, which no sender asked for".formatted(score),
                    leased ? "end the lease" : "reschedule it",
                    this.keys.command("ZADD", number, leased ? facts.now() + "" : facts.now() / 1000 + "", facts.id()));
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

    private void entry(int number, Facts facts) {
        String value = Replies.text(facts.value());
        String kind = this.keys.kind(number);
        String removal = this.keys.command("HDEL", number, facts.id());
        if (!facts.stored()) {
            add(Kind.LEFTOVER, facts.id(),
                    "it has an entry in %s, and there is no such message: the next one of its id would inherit it"
                        .formatted(kind),
                    "remove the entry", removal);
            return;
        }
        boolean ofLease = number == KeyCommands.RENEWED || number == KeyCommands.NEXT;
        if (ofLease && facts.deadline() == null) {
            add(Kind.NOT_LEASED, facts.id(),
                    "it has an entry in %s, and is not leased: its next lease would inherit it".formatted(kind),
                    "remove the entry", removal);
        }
        boolean readable = switch (number) {
            case KeyCommands.DETAILS -> DETAILS.matcher(value).matches();
            case KeyCommands.ATTEMPTS -> ATTEMPTS.matcher(value).matches();
            case KeyCommands.NEXT -> NEXT.matcher(value).matches();
            default -> value.matches("\\d+");
        };
        if (!readable) {
            add(Kind.UNREADABLE_ENTRY, facts.id(), "its entry in %s cannot be read, and counts as none".formatted(kind),
                    "remove the entry", removal);
        }
    }

    /** The member is the group, and the id that of its head. */
    private void head(Facts facts) {
        String group = facts.member();
        boolean placed = facts.deadline() != null || !facts.waits().isEmpty();
        if (placed && group.equals(groupOf(facts.details()))) {
            return;
        }
        String first = facts.first();
        String problem = placed ? "its head '%s' is not of this group" : "its head '%s' neither waits nor is leased";
        if (first == null) {
            add(Kind.LOST_HEAD, group, problem.formatted(facts.id()) + ", and nothing follows", "remove the entry",
                    this.keys.command("HDEL", KeyCommands.HEADS, group));
        }
        else {
            add(Kind.LOST_HEAD, group, problem.formatted(facts.id()) + ": what follows is never handled",
                    "send any message to the group, which then goes on; or make the first follower its head, "
                            + "in the lane of its priority",
                    promotion(group, first));
        }
    }

    private String[] promotion(String group, String follower) {
        int blank = follower.indexOf(' ');
        String[] dueAndId = follower.substring(blank + 1).split(":", 2);
        String due = dueAndId[0].replaceFirst("^0+(?=.)", "");
        String id = (dueAndId.length > 1) ? dueAndId[1] : "";
        return new String[] { this.keys.command("ZREM", KeyCommands.FOLLOWERS, follower),
                this.keys.command("HSET", KeyCommands.HEADS, group, id),
                this.keys.command("ZADD", KeyCommands.SCHEDULED, due, id) };
    }

    private void follower(Facts facts) {
        Matcher details = DETAILS.matcher((facts.details() != null) ? facts.details() : "");
        String expected = (details.matches() && details.group(4) != null)
                ? "%s %015d:%s".formatted(details.group(4), Replies.millis(details.group(1)), facts.id()) : null;
        if (!facts.stored()) {
            add(Kind.PLACE_WITHOUT_MESSAGE, facts.id(), "it waits behind its group, but its message is gone",
                    "remove it", this.keys.command("ZREM", KeyCommands.FOLLOWERS, facts.member()));
        }
        else if (!facts.member().equals(expected)) {
            add(Kind.LOST_FOLLOWER, facts.id(),
                    "it waits behind a group as '%s', and its details say otherwise".formatted(facts.member()),
                    "remove it there", this.keys.command("ZREM", KeyCommands.FOLLOWERS, facts.member()));
        }
        else if (facts.head() == null) {
            boolean first = facts.member().equals(facts.first());
            add(Kind.LOST_FOLLOWER, facts.id(), "it waits behind a group that has no head: it is never handled",
                    "send any message to the group, which then goes on"
                            + (first ? "; or make this one its head" : "; it comes after others of its group"),
                    first ? promotion(details.group(4), facts.member()) : new String[] {});
        }
    }

    static @Nullable String groupOf(@Nullable String details) {
        Matcher matcher = DETAILS.matcher((details != null) ? details : "");
        return matcher.matches() ? matcher.group(4) : null;
    }

    /** Looks at a dead letter, in one of its two keys. */
    void lookAtLetter(int number, String letter, byte[] value, boolean there) {
        boolean content = number == KeyCommands.LETTERS;
        Long died = content ? diedOrNull(value) : null;
        if (content && died == null) {
            add(Kind.UNREADABLE_ENTRY, letter, "the dead letter cannot be read, nor any page of the list with it",
                    "remove it", this.keys.command("ZREM", KeyCommands.DEAD, letter),
                    this.keys.command("HDEL", KeyCommands.LETTERS, letter));
        }
        else if (!there && died != null) {
            add(Kind.HALF_A_LETTER, letter, "the dead letter is in no list: it is neither shown nor purged",
                    "list it by the time of its death",
                    this.keys.command("ZADD", KeyCommands.DEAD, died.toString(), letter));
        }
        else if (!there) {
            add(Kind.HALF_A_LETTER, letter, "the dead letter is listed, and its content is gone", "remove it",
                    this.keys.command("ZREM", KeyCommands.DEAD, letter));
        }
    }

    private static @Nullable Long diedOrNull(byte[] value) {
        LetterContent letter = LetterContent.parse(value);
        return (letter != LetterContent.UNREADABLE) ? (Long) letter.died() : null;
    }

}

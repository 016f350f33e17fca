package io.delayqueue.store.schedule;

import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.delayqueue.ScheduleDefinition;

import org.jspecify.annotations.Nullable;

/**
 * Holds the stored state of a schedule. Times are in milliseconds since the epoch.
 *
 * @param generation changes with the definition and the pause, and is never repeated
 * @param next the nominal time of the next occurrence; {@link #NONE} if there is none
 * @param last the nominal time of the last occurrence that was sent; {@link #NONE} if
 * none was
 * @param tail the nominal time of the occurrence that precedes {@code next} by
 * {@code ahead} occurrences
 * @param ahead 0 to the catch-up limit; more, such as {@link #BACKLOGGED}, if occurrences
 * after the tail were skipped as the queue holds it
 * @param sent how many occurrences were sent
 * @param paused whether occurrences are skipped
 * @param owner the application that declares it, encoded; empty if a call has put it
 * @param definition as {@link DefinitionCodec} writes it; opaque to the store
 */
public record ScheduleState(long generation, long next, long last, long tail, int ahead, long sent, boolean paused,
        String owner, String definition) {

    /** Stands for a time or a generation that does not exist. */
    public static final long NONE = 0;

    /** Stands for {@link #ahead} after a skip as the queue holds the tail. */
    public static final int BACKLOGGED = ScheduleDefinition.MAX_CATCH_UP_LIMIT + 1;

    /** Stands for a stored state that is not readable; it can be replaced and removed. */
    public static final ScheduleState UNREADABLE = new ScheduleState(NONE, NONE, NONE, NONE, 0, 0, false, "", "");

    /** Owner of schedules of applications without a name; no name has this form. */
    static final String UNNAMED = "?";

    private static final String TIME = "(0|[1-9]\\d{0,14}):";

    /** Repeated by prelude-schedules.lua: what one cannot read, the other must not. */
    private static final Pattern FORM = Pattern.compile(
            "([1-9]\\d{0,15}):" + TIME + TIME + TIME + "(0|[1-9]\\d{0,3}):(0|[1-9]\\d{0,15}):([ap]):(\\S*) (.*)",
            Pattern.DOTALL);

    /**
     * Parses the stored form.
     * @throws IllegalArgumentException if it is not valid
     */
    public static ScheduleState parse(String text) {
        Matcher fields = FORM.matcher(text);
        if (!fields.matches()) {
            throw new IllegalArgumentException(
                    "A stored schedule of %d characters is not readable".formatted(text.length()));
        }
        return new ScheduleState(Long.parseLong(fields.group(1)), Long.parseLong(fields.group(2)),
                Long.parseLong(fields.group(3)), Long.parseLong(fields.group(4)), Integer.parseInt(fields.group(5)),
                Long.parseLong(fields.group(6)), fields.group(7).equals("p"), fields.group(8), fields.group(9));
    }

    /** Returns the stored form. */
    public String text() {
        return "%d:%d:%d:%d:%d:%d:%s:%s %s".formatted(this.generation, this.next, this.last, this.tail, this.ahead,
                this.sent, this.paused ? "p" : "a", this.owner, this.definition);
    }

    /** Returns whether this is a state, and not {@link #UNREADABLE}. */
    public boolean isReadable() {
        return this.generation != NONE;
    }

    /** Returns the name of an application in the form of {@link #owner()}. */
    static String owner(String application) {
        return URLEncoder.encode(application, StandardCharsets.UTF_8);
    }

    /** Returns the application that declares it; {@code null} if a call has put it. */
    public @Nullable String application() {
        try {
            return this.owner.isEmpty() ? null : URLDecoder.decode(this.owner, StandardCharsets.UTF_8);
        }
        catch (IllegalArgumentException ex) {
            return this.owner; // of another writer
        }
    }

    /** Returns whether a step or a change is based on this state. */
    public boolean isExpected(long generation, long next, long last) {
        return this.generation == generation && this.next == next && this.last == last;
    }

    /** Returns this state after one occurrence was sent. */
    public ScheduleState sent(Position to) {
        return new ScheduleState(this.generation, to.next(), this.next, to.tail(), to.ahead(), this.sent + 1,
                this.paused, this.owner, this.definition);
    }

    /** Returns this state after occurrences were skipped. */
    public ScheduleState skipped(Position to) {
        return new ScheduleState(this.generation, to.next(), this.last, to.tail(), to.ahead(), this.sent, this.paused,
                this.owner, this.definition);
    }

    /** Returns the next generation, paused or not. */
    public ScheduleState paused(boolean paused) {
        return new ScheduleState(this.generation + 1, this.next, this.last, this.tail, this.ahead, this.sent, paused,
                this.owner, this.definition);
    }

    /** Returns the next generation, with another definition. */
    public ScheduleState redefined(Position to, String owner, String definition) {
        return new ScheduleState(this.generation + 1, to.next(), this.last, to.tail(), to.ahead(), this.sent,
                this.paused, owner, definition);
    }

    /** Returns the position in the chain of occurrences. */
    public Position position() {
        return new Position(this.next, this.tail, this.ahead);
    }

    /**
     * Holds a position in the chain of occurrences.
     *
     * @param next the nominal time of the next occurrence
     * @param tail that of the occurrence {@code ahead} before it
     * @param ahead how far the two are apart
     */
    public record Position(long next, long tail, int ahead) {

        /** Returns the position of a schedule that begins with an occurrence. */
        public static Position beginning(long next) {
            return new Position(next, next, 0);
        }

        /** Returns this position, without a tail if there is no next occurrence. */
        Position ended() {
            return (this.next == NONE) ? new Position(NONE, NONE, 0) : this;
        }

    }

}

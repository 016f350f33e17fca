package io.delayqueue.journal;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.delayqueue.QueueName;
import org.jspecify.annotations.Nullable;

/**
 * Points behind the last row of a step of a restore. A restore has three parts: messages
 * that are due soon, in the order of their due times; the others, about in that order;
 * and dead letters.
 *
 * @param part the part of the restore
 * @param horizon the latest due time of the first part, in milliseconds since the epoch
 * @param position the due time of the last row in the first part, its next check in the
 * second one
 * @param revision the revision of the last row
 * @param queue the queue of the last dead letter; empty at the begin
 * @param deadLetter its id; empty at the begin
 */
record RestoreCursor(Part part, long horizon, long position, long revision, String queue, String deadLetter) {

    private static final Pattern MESSAGES = Pattern.compile("([SL])([0-9]{1,18})_([0-9]{1,18})_([0-9]{1,18})");

    /** Names of queues and ids may have any other character. */
    private static final Pattern DEAD_LETTERS = Pattern.compile("D([^/]*)/(.*)", Pattern.DOTALL);

    /** Returns the begin of a restore. */
    static RestoreCursor start(long horizon) {
        return new RestoreCursor(Part.SOON, horizon, 0, 0, "", "");
    }

    /** Returns the begin of the next part. */
    RestoreCursor nextPart() {
        return new RestoreCursor((this.part == Part.SOON) ? Part.LATER : Part.DEAD_LETTERS, this.horizon, 0, 0, "", "");
    }

    /** Returns the position behind a row. */
    RestoreCursor behind(JournalRow row) {
        return behind((this.part == Part.SOON) ? row.message().due().millis() : row.nextCheck(), row.revision());
    }

    RestoreCursor behind(long last, long lastRevision) {
        return new RestoreCursor(this.part, this.horizon, last, lastRevision, "", "");
    }

    /** Returns the position behind a dead letter. */
    RestoreCursor behind(QueueName lastQueue, String lastId) {
        return new RestoreCursor(Part.DEAD_LETTERS, this.horizon, 0, 0, lastQueue.value(), lastId);
    }

    /**
     * Reads a cursor from the caller.
     * @throws IllegalArgumentException if no step has returned it
     */
    static RestoreCursor parse(String cursor) {
        Matcher messages = MESSAGES.matcher(cursor);
        if (messages.matches()) {
            return new RestoreCursor(messages.group(1).equals("S") ? Part.SOON : Part.LATER,
                    Long.parseLong(messages.group(2)), Long.parseLong(messages.group(3)),
                    Long.parseLong(messages.group(4)), "", "");
        }
        Matcher deadLetters = DEAD_LETTERS.matcher(cursor);
        if (deadLetters.matches()) {
            return new RestoreCursor(Part.DEAD_LETTERS, 0, 0, 0, deadLetters.group(1), deadLetters.group(2));
        }
        throw new IllegalArgumentException("Cursor is not valid: use the nextCursor of the step before");
    }

    static @Nullable String text(@Nullable RestoreCursor cursor) {
        return (cursor != null) ? cursor.toString() : null;
    }

    @Override
    public String toString() {
        return switch (this.part) {
            case SOON -> "S%d_%d_%d".formatted(this.horizon, this.position, this.revision);
            case LATER -> "L%d_%d_%d".formatted(this.horizon, this.position, this.revision);
            case DEAD_LETTERS -> "D" + this.queue + "/" + this.deadLetter;
        };
    }

    /** Lists the parts of a restore. */
    enum Part {

        SOON, LATER, DEAD_LETTERS

    }

}

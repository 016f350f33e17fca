package io.delayqueue.redis.script;

import java.util.List;

import io.delayqueue.DelayQueueException.Effect;

/**
 * Reads from the replies of {@code send.lua} and {@code schedule.lua} whether a call has
 * stored its messages. The headers of these scripts specify the replies.
 */
public final class SendReplies {

    /** Outcome of a call in which a message would change the group of its id. */
    public static final int CHANGES_GROUP = 4;

    /** Outcome of a message that was left out, as its id is not held. */
    public static final int NOT_HELD = 5;

    /** Outcome of a message whose id is kept out by its duplicate window. */
    public static final int DEDUPLICATED = 7;

    /** Outcome of a call that the number of duplicate windows does not allow. */
    public static final int EXCEEDS_WINDOWS = 8;

    private SendReplies() {
    }

    /**
     * Returns the effect of a call that has run.
     * @return {@code NONE} if the call stored nothing and found nothing under its ids,
     * {@code UNKNOWN} if it left out some of its messages, otherwise {@code STORED}
     */
    public static Effect effect(RedisScript script, List<Object> reply) {
        if (!script.name().equals(RedisScripts.SCHEDULE.name())) {
            return reply.isEmpty() ? Effect.NONE : Effect.STORED;
        }
        boolean stored = false;
        boolean left = false;
        for (int i = 1; i < reply.size(); i += 2) {
            int outcome = (int) ScriptCodec.number(reply.get(i));
            if (outcome == CHANGES_GROUP || outcome == EXCEEDS_WINDOWS) {
                return Effect.NONE;
            }
            left |= outcome == NOT_HELD;
            stored |= outcome != NOT_HELD && outcome != DEDUPLICATED;
        }
        if (!stored) {
            return Effect.NONE;
        }
        return left ? Effect.UNKNOWN : Effect.STORED;
    }

}

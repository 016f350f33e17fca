package io.delayqueue.redis.check;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.delayqueue.redis.script.RedisExceptionTranslator;
import org.jspecify.annotations.Nullable;

import static io.delayqueue.redis.script.ScriptCodec.number;
import static io.delayqueue.redis.script.ScriptCodec.text;

/**
 * Holds the reply of a server to {@code check-server.lua}.
 *
 * @param at the location of the server; empty if there is only one
 * @param server that section of INFO, empty if the user may not read it
 * @param memory that section of INFO
 * @param denied the first command that failed, and its error; empty if none
 * @param mayNotPublish whether this user may not publish wake-ups
 * @param replication that section of INFO
 * @param time by its clock, microseconds
 */
record ProbeReply(String at, String server, String memory, String denied, boolean mayNotPublish, String replication,
        long time) {

    /** Matches the command that the probe puts in front of an error. */
    private static final Pattern COMMAND = Pattern.compile("^[A-Z]+: ");

    private static final Pattern EVICTING = Pattern.compile("(?m)^maxmemory_policy:(allkeys-[a-z]+)");

    static ProbeReply of(String at, List<Object> reply) {
        return new ProbeReply(at, text(reply.get(0)), text(reply.get(1)), text(reply.get(2)), number(reply.get(3)) == 1,
                text(reply.get(4)), number(reply.get(5)));
    }

    /** Returns whether the server cannot be written to at present. */
    boolean rejectsWrites() {
        return RedisExceptionTranslator.isWriteUnavailable(COMMAND.matcher(this.denied).replaceFirst(""));
    }

    /** Returns the policy by which it evicts any key; {@code null} if it does not. */
    @Nullable String evictionPolicy() {
        Matcher policy = EVICTING.matcher(this.memory);
        return policy.find() ? policy.group(1) : null;
    }

}

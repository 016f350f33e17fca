package io.delayqueue.redis.check;

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.delayqueue.MessageLimits;
import io.delayqueue.redis.script.RedisKeys;
import io.delayqueue.redis.script.ScriptCodec;

/** Formats commands on the keys of a partition for the prompt of redis-cli. */
final class RepairCommands {

    /** Difference between the scores of two lanes that share a key. */
    private static final BigDecimal LANE = BigDecimal.TEN.pow(15);

    private static final Pattern HARMLESS = Pattern.compile("[A-Za-z0-9._:@/+=,-][A-Za-z0-9._:@/+=~,-]*");

    private static final Pattern QUOTABLE = Pattern.compile("[A-Za-z0-9._:@/+=~,{}| -]");

    private final RedisKeys keys;

    RepairCommands(RedisKeys keys) {
        this.keys = keys;
    }

    /** Returns the command that adds a message to a lane, whose key may not hold it. */
    String addToLane(int priority, String due, String id) {
        return command("ZADD", KeyKind.ofLane(priority), score(priority, due), id);
    }

    /**
     * Returns the command that changes the due time of a message in the lane that holds
     * it; it changes nothing once the message was claimed.
     */
    String moveInLane(int priority, String due, String id) {
        return command("ZADD", KeyKind.ofLane(priority), "XX", score(priority, due), id);
    }

    /** Returns the score of a due time in a lane; see {@code lane_of} in prelude.lua. */
    private static String score(int priority, String due) {
        if (priority == MessageLimits.NORMAL_PRIORITY || due.endsWith("inf")) {
            return due;
        }
        int lane = MessageLimits.MAX_PRIORITY - priority - ((priority < MessageLimits.NORMAL_PRIORITY) ? 1 : 0);
        return LANE.multiply(BigDecimal.valueOf(lane)).add(new BigDecimal(due)).toPlainString();
    }

    /** Returns the name of a key. */
    String name(KeyKind key) {
        return new String(this.keys.all()[key.ordinal()], StandardCharsets.US_ASCII);
    }

    /** Returns the last part of that name. */
    String lastPart(KeyKind key) {
        return name(key).replaceFirst(".*}:", "");
    }

    /** Returns the command that removes a member of a hash or a sorted set. */
    String remove(KeyKind key, String member) {
        return command(key.type().equals("hash") ? "HDEL" : "ZREM", key, member);
    }

    String command(String command, KeyKind key, String... arguments) {
        return command + " " + name(key)
                + Stream.of(arguments).map((argument) -> " " + quote(argument)).collect(Collectors.joining());
    }

    /**
     * Quotes an argument for the prompt of redis-cli. A shell would not decode {@code
     * \xNN}, but the result contains nothing that a shell would execute.
     * @param argument raw bytes
     */
    static String quote(String argument) {
        if (HARMLESS.matcher(argument).matches()) {
            return argument;
        }
        StringBuilder quoted = new StringBuilder("\"");
        for (byte each : ScriptCodec.bytesOfRaw(argument)) {
            String character = String.valueOf((char) each);
            boolean plain = QUOTABLE.matcher(character).matches();
            quoted.append(plain ? character : "\\x%02x".formatted(each & 0xff));
        }
        return quoted.append('"').toString();
    }

}

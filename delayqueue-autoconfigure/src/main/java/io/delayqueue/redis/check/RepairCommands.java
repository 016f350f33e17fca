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

    static final int MESSAGES = 1;

    static final int SCHEDULED = 2;

    static final int WAKE = 3;

    static final int PARTITIONS = 4;

    static final int LEASED = 5;

    static final int DETAILS = 6;

    static final int ATTEMPTS = 7;

    static final int TOKENS = 8;

    static final int SUCCESSORS = 9;

    static final int DEAD_ORDER = 10;

    static final int DEAD_LETTERS = 11;

    static final int PRIORITIES = 12;

    static final int WAITING = 13;

    static final int GROUP_HEADS = 14;

    static final int PRIMARY = 15;

    /** What the scores of one lane of {@link #PRIORITIES} are later than those before. */
    private static final BigDecimal LANE = BigDecimal.TEN.pow(15);

    private static final Pattern HARMLESS = Pattern.compile("[A-Za-z0-9._:@/+=,-][A-Za-z0-9._:@/+=~,-]*");

    private static final Pattern QUOTABLE = Pattern.compile("[A-Za-z0-9._:@/+=~,{}| -]");

    private final RedisKeys keys;

    RepairCommands(RedisKeys keys) {
        this.keys = keys;
    }

    /** Returns the number of the key that holds a lane. */
    static int ofLane(int priority) {
        return (priority == MessageLimits.NORMAL_PRIORITY) ? SCHEDULED : PRIORITIES;
    }

    /** Returns the command that adds a message to a lane, or moves it there. */
    String addToLane(int priority, String due, String id) {
        return command("ZADD", ofLane(priority), score(priority, due), id);
    }

    /** Returns the score of a due time in a lane; see {@code lane_of} in prelude.lua. */
    private static String score(int priority, String due) {
        if (priority == MessageLimits.NORMAL_PRIORITY || due.endsWith("inf")) {
            return due;
        }
        int lane = MessageLimits.MAX_PRIORITY - priority - ((priority < MessageLimits.NORMAL_PRIORITY) ? 1 : 0);
        return LANE.multiply(BigDecimal.valueOf(lane)).add(new BigDecimal(due)).toPlainString();
    }

    /** Returns the name of a key, by its number in prelude.lua. */
    String name(int number) {
        return new String(this.keys.all()[number - 1], StandardCharsets.US_ASCII);
    }

    /** Returns the last part of that name. */
    String kind(int number) {
        return name(number).replaceFirst(".*}:", "");
    }

    String command(String command, int number, String... arguments) {
        return command + " " + name(number)
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

package io.delayqueue.redis.check;

import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.delayqueue.MessageLimits;
import io.delayqueue.redis.script.RedisKeys;
import io.delayqueue.redis.script.ScriptReplies;

/** Formats commands on the keys of a partition for the prompt of redis-cli. */
final class RepairCommands {

    static final int MESSAGES = 1;

    static final int SCHEDULED = 2;

    static final int WAKE = 3;

    static final int PARTITIONS = 4;

    static final int LEASED = 5;

    static final int DETAILS = 6;

    static final int ATTEMPTS = 7;

    static final int RENEWED = 8;

    static final int NEXT = 9;

    static final int DEAD = 10;

    static final int LETTERS = 11;

    static final int FOLLOWERS = 21;

    static final int HEADS = 22;

    static final int KEEPER = 23;

    private static final int LOWER_LANES = 12;

    private static final int HIGHER_LANES = 11;

    private static final Pattern HARMLESS = Pattern.compile("[A-Za-z0-9._:@/+=,-][A-Za-z0-9._:@/+=~,-]*");

    private static final Pattern QUOTABLE = Pattern.compile("[A-Za-z0-9._:@/+=~,{}| -]");

    private final RedisKeys keys;

    RepairCommands(RedisKeys keys) {
        this.keys = keys;
    }

    /** Returns the number of the key of a lane; see {@code lane_key} in prelude.lua. */
    static int ofLane(int lane) {
        if (lane == MessageLimits.NORMAL_PRIORITY) {
            return SCHEDULED;
        }
        return ((lane < MessageLimits.NORMAL_PRIORITY) ? LOWER_LANES : HIGHER_LANES) + lane;
    }

    static boolean isLane(int number) {
        return number == SCHEDULED || (number >= LOWER_LANES && number < FOLLOWERS);
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
        for (byte each : ScriptReplies.bytesOfRaw(argument)) {
            String character = String.valueOf((char) each);
            boolean plain = QUOTABLE.matcher(character).matches();
            quoted.append(plain ? character : "\\x%02x".formatted(each & 0xff));
        }
        return quoted.append('"').toString();
    }

}

package io.delayqueue.redis;

import java.nio.charset.StandardCharsets;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.delayqueue.MessageLimits;

/** Writes commands on the keys of a partition, as one would type them. */
final class KeyCommands {

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

    private final RedisKeys keys;

    KeyCommands(RedisKeys keys) {
        this.keys = keys;
    }

    /** The number of the key of a lane; see {@code lane_key} in prelude.lua. */
    static int ofLane(int lane) {
        if (lane == MessageLimits.NORMAL_PRIORITY) {
            return SCHEDULED;
        }
        return ((lane < MessageLimits.NORMAL_PRIORITY) ? LOWER_LANES : HIGHER_LANES) + lane;
    }

    static boolean isLane(int number) {
        return number == SCHEDULED || (number >= LOWER_LANES && number < FOLLOWERS);
    }

    /** The name of a key, by its number in prelude.lua. */
    String name(int number) {
        return new String(this.keys.all()[number - 1], StandardCharsets.US_ASCII);
    }

    /** The last part of that name. */
    String kind(int number) {
        return name(number).replaceFirst(".*}:", "");
    }

    String command(String command, int number, String... arguments) {
        return command + " " + name(number)
                + Stream.of(arguments).map((argument) -> " " + quote(argument)).collect(Collectors.joining());
    }

    /** As redis-cli and a shell take it; what is harmless stays as it is. */
    static String quote(String argument) {
        if (argument.matches("[A-Za-z0-9._:@/+=~|,-]+")) {
            return argument;
        }
        StringBuilder quoted = new StringBuilder("\"");
        for (byte each : argument.getBytes(StandardCharsets.UTF_8)) {
            boolean plain = each >= ' ' && each < 0x7f && each != '"' && each != '\\';
            quoted.append(plain ? String.valueOf((char) each) : "\\x%02x".formatted(each & 0xff));
        }
        return quoted.append('"').toString();
    }

}

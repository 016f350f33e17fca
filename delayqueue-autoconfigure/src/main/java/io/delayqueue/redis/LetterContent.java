package io.delayqueue.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;

import io.delayqueue.engine.NewMessage;
import org.jspecify.annotations.Nullable;

/**
 * What a dead letter says; its form stands at {@code bury} in prelude.lua.
 *
 * @param numbers died, due, failures, lapses, time to live and lane; times in ms
 * @param groupOrEmpty its group; empty for none
 * @param cause why it died
 * @param firstFailure its first failure, empty for none
 * @param stamped stamp and envelope, empty if its content was missing
 */
record LetterContent(long[] numbers, String groupOrEmpty, String cause, String firstFailure, byte[] stamped) {

    private static final int FIELDS = 8;

    private static final int LANE = 5;

    static LetterContent parse(byte[] content) {
        String[] fields = new String[FIELDS];
        int start = 0;
        for (int i = 0; i < FIELDS; i++) {
            int end = start;
            while (content[end] != ':') {
                end++;
            }
            fields[i] = new String(content, start, end - start, StandardCharsets.US_ASCII);
            start = end + 1;
        }
        String[] lane = fields[LANE].split("\\+", 2);
        long[] numbers = new long[LANE + 1];
        for (int i = 0; i < LANE; i++) {
            numbers[i] = Long.parseLong(fields[i]);
        }
        numbers[LANE] = Long.parseLong(lane[0]);
        int groupEnd = start + ((lane.length > 1) ? Integer.parseInt(lane[1]) : 0);
        int causeEnd = groupEnd + Integer.parseInt(fields[LANE + 1]);
        int firstEnd = causeEnd + Integer.parseInt(fields[LANE + 2]);
        return new LetterContent(numbers, new String(content, start, groupEnd - start, StandardCharsets.US_ASCII),
                new String(content, groupEnd, causeEnd - groupEnd, StandardCharsets.UTF_8),
                new String(content, causeEnd, firstEnd - causeEnd, StandardCharsets.UTF_8),
                Arrays.copyOfRange(content, firstEnd, content.length));
    }

    long died() {
        return this.numbers[0];
    }

    long due() {
        return this.numbers[1];
    }

    int failures() {
        return (int) this.numbers[2];
    }

    int lapses() {
        return (int) this.numbers[3];
    }

    @Nullable String group() {
        return this.groupOrEmpty.isEmpty() ? null : this.groupOrEmpty;
    }

    @Nullable String firstFailureOrNull() {
        return (this.firstFailure.isEmpty() || this.firstFailure.equals(this.cause)) ? null : this.firstFailure;
    }

    /** Its message, to be sent again. */
    NewMessage toMessage(String letterId) {
        Duration timeToLive = (this.numbers[4] != 0) ? Duration.ofMillis(this.numbers[4]) : null;
        return NewMessage.of(letterId, (int) this.numbers[LANE], timeToLive, group(), Replies.envelopeOf(this.stamped));
    }

}

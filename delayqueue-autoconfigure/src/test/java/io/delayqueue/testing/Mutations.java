package io.delayqueue.testing;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * Makes hostile inputs of valid ones: bits turned, bytes replaced, pieces of others,
 * cuts, words that mean something, and long repetitions. The same seed and number make
 * the same input. Threads: one.
 */
public final class Mutations {

    private static final int MOST_CHANGES = 4;

    private static final int LONGEST = 1 << 18;

    private static final String[] WORDS = { "\0", "\n", "\r\n", "%", "%0A", "%zz", "{", "}", "[", "]", "[[[[", "\"",
            "\\", "\\u0000", "\\ud800", ",", ",1", ":", "::", "|", "+", "-", "~", " ", "null", "true", "0", "-0",
            "1e999999999", "-1", "9".repeat(16), "9".repeat(20), "9".repeat(400), "999999999", "000000000",
            "2147483648", "9223372036854775808", "inf", "-inf", "nan", "k", "v", "S", "C", "\"payload\":",
            "\"headers\":{", "\"v\":2,", "{\"payload\":", "\u00e9", "\u2028", "\ud83d\ude00", "\uffff", "\ufeff" };

    private final List<byte[]> corpus;

    private final long seed;

    /**
     * Begins.
     * @param corpus inputs that are valid
     */
    public Mutations(List<byte[]> corpus, long seed) {
        this.corpus = corpus;
        this.seed = seed;
    }

    /** An input; every tenth is valid. */
    public byte[] input(long number) {
        Random random = new Random(this.seed * 31 + number);
        byte[] input = any(random).clone();
        int changes = (random.nextInt(10) == 0) ? 0 : 1 + random.nextInt(MOST_CHANGES);
        for (int i = 0; i < changes && input.length < LONGEST; i++) {
            input = change(input, random);
        }
        return input;
    }

    private byte[] any(Random random) {
        return this.corpus.get(random.nextInt(this.corpus.size()));
    }

    private byte[] change(byte[] input, Random random) {
        int at = random.nextInt(input.length + 1);
        int end = at + random.nextInt(input.length - at + 1);
        byte[] word = WORDS[random.nextInt(WORDS.length)].getBytes(StandardCharsets.UTF_8);
        return switch (random.nextInt(8)) {
            case 0 -> turned(input, Math.min(at, input.length - 1), 1 << random.nextInt(8));
            case 1 -> spliced(input, at, new byte[] { (byte) random.nextInt() }, Math.min(at + 1, input.length));
            case 2 -> spliced(input, at, word, at);
            case 3 -> spliced(input, at, word, end);
            case 4 -> Arrays.copyOf(input, at);
            case 5 -> spliced(input, at, new byte[0], end);
            case 6 -> spliced(input, at, piece(any(random), random), end);
            default -> repeated(input, at, end, random);
        };
    }

    private static byte[] turned(byte[] input, int at, int bit) {
        byte[] turned = input.clone();
        if (at >= 0) {
            turned[at] ^= (byte) bit;
        }
        return turned;
    }

    private static byte[] piece(byte[] other, Random random) {
        int start = random.nextInt(other.length + 1);
        return Arrays.copyOfRange(other, start, start + random.nextInt(other.length - start + 1));
    }

    /** Mostly a few times, now and then very often. */
    private static byte[] repeated(byte[] input, int start, int end, Random random) {
        int times = (random.nextInt(20) == 0) ? 1 << 15 : random.nextInt(20);
        byte[] piece = Arrays.copyOfRange(input, start, Math.min(end, start + 8));
        ByteArrayOutputStream repeated = new ByteArrayOutputStream();
        for (int i = 0; i < times; i++) {
            repeated.writeBytes(piece);
        }
        return spliced(input, start, repeated.toByteArray(), end);
    }

    private static byte[] spliced(byte[] input, int start, byte[] piece, int end) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.write(input, 0, start);
        bytes.writeBytes(piece);
        bytes.write(input, end, input.length - end);
        return bytes.toByteArray();
    }

}

package io.delayqueue.redis.script;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.delayqueue.FailureReasons;
import io.delayqueue.MessageLimits;
import io.delayqueue.store.RevisionPage;
import org.jspecify.annotations.Nullable;

/** Converts between Java values and the bytes that scripts take and return. */
public final class ScriptCodec {

    /** Length of the stamp before the envelope in {@code messages}; see prelude.lua. */
    public static final int STAMP = 8;

    private static final double MAX_EXACT = (1L << 53) - 1;

    private static final int MILLIS_DIGITS = 15;

    private static final long MAX_MILLIS = 999_999_999_999_999L;

    private static final int COUNT_DIGITS = 9;

    private static final int MAX_COUNT = 999_999_999;

    private static final char ESCAPE = '%';

    private static final HexFormat HEX = HexFormat.of().withUpperCase();

    private ScriptCodec() {
    }

    public static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    public static byte[] bytes(long number) {
        return Long.toString(number).getBytes(StandardCharsets.US_ASCII);
    }

    public static String text(Object value) {
        return new String((byte[]) value, StandardCharsets.UTF_8);
    }

    /** Returns bytes as characters, one of each, so that none is lost. */
    public static String raw(Object value) {
        return new String((byte[]) value, StandardCharsets.ISO_8859_1);
    }

    public static byte[] bytesOfRaw(String raw) {
        return raw.getBytes(StandardCharsets.ISO_8859_1);
    }

    /**
     * Returns the name of a message, a group or a dead letter. Writers other than this
     * library may store any bytes as a name: bytes that no caller could have given are
     * escaped as in a URL, so that the name can be logged and still identifies its entry.
     */
    public static String name(Object value) {
        byte[] bytes = (byte[]) value;
        for (byte character : bytes) {
            if (!isPlain(character)) {
                return escaped(bytes);
            }
        }
        return new String(bytes, StandardCharsets.US_ASCII);
    }

    /** Reads a page of revisions, without duplicate windows, which are negative. */
    public static RevisionPage revisions(List<?> reply) {
        Map<String, Long> revisions = new LinkedHashMap<>();
        Map<String, Long> successors = new LinkedHashMap<>();
        for (int i = 1; i < reply.size(); i += 3) {
            String id = name(reply.get(i));
            long revision = number(reply.get(i + 1));
            long successor = number(reply.get(i + 2));
            if (revision > 0) {
                revisions.put(id, revision);
            }
            if (successor > 0) {
                successors.put(id, successor);
            }
        }
        return new RevisionPage(revisions, successors, text(reply.get(0)));
    }

    private static boolean isPlain(byte character) {
        return character > ' ' && character <= '~' && character != ESCAPE;
    }

    private static String escaped(byte[] bytes) {
        StringBuilder name = new StringBuilder();
        for (byte character : bytes) {
            if (isPlain(character)) {
                name.append((char) character);
            }
            else {
                name.append(ESCAPE).append(HEX.toHexDigits(character));
            }
        }
        return name.toString();
    }

    /** Returns a name as it is stored, from the result of {@link #name}. */
    public static byte[] bytesOfName(String name) {
        if (name.indexOf(ESCAPE) < 0) {
            return bytes(name);
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (int i = 0; i < name.length(); i++) {
            if (name.charAt(i) == ESCAPE && i + 2 < name.length() && HexFormat.isHexDigit(name.charAt(i + 1))
                    && HexFormat.isHexDigit(name.charAt(i + 2))) {
                bytes.write(HexFormat.fromHexDigits(name, i + 1, i + 3));
                i += 2;
            }
            else {
                bytes.writeBytes(bytes(name.substring(i, i + 1)));
            }
        }
        return bytes.toByteArray();
    }

    public static long number(Object value) {
        return (value instanceof Long number) ? number : Long.parseLong(text(value));
    }

    /** Parses a score and rounds it up; only another producer writes fractions. */
    public static long ceil(Object score) {
        byte[] digits = (byte[]) score;
        long number = 0;
        for (byte digit : digits) {
            if (digit < '0' || digit > '9' || number > MAX_MILLIS) {
                return ceil(text(score));
            }
            number = 10 * number + digit - '0';
        }
        return number;
    }

    private static long ceil(String score) {
        return (long) Math.ceil(value(score));
    }

    /** Parses a score and rounds it down. */
    public static long floor(Object score) {
        return (long) Math.floor(value(text(score)));
    }

    /** Parses a score as Redis writes it, bounded to the range of exact numbers. */
    private static double value(String score) {
        double value = score.endsWith("inf") ? MAX_EXACT : Double.parseDouble(score);
        return Math.max(-MAX_EXACT, Math.min(score.startsWith("-inf") ? -value : value, MAX_EXACT));
    }

    /** Returns an instant from milliseconds, {@code null} from an empty text. */
    public static @Nullable Instant instantOrNull(Object millis) {
        return (((byte[]) millis).length == 0) ? null : Instant.ofEpochMilli(ceil(millis));
    }

    /** Parses digits as a time in milliseconds, bounded to the latest valid time. */
    public static long millis(String digits) {
        return (digits.length() <= MILLIS_DIGITS) ? Long.parseLong(digits) : MAX_MILLIS;
    }

    /** Parses digits as a count, bounded to the largest that is displayed. */
    public static int count(String digits) {
        return (digits.length() <= COUNT_DIGITS) ? Integer.parseInt(digits) : MAX_COUNT;
    }

    public static Instant ofMicros(long micros) {
        return Instant.ofEpochSecond(Math.floorDiv(micros, 1_000_000L), Math.floorMod(micros, 1_000_000L) * 1_000);
    }

    /** Returns the answers 1 and 0 from {@code start} on. */
    public static List<Boolean> flags(List<Object> reply, int start) {
        List<Boolean> flags = new ArrayList<>(reply.size());
        for (Object value : reply.subList(start, reply.size())) {
            flags.add(number(value) == 1);
        }
        return flags;
    }

    /** Returns the revision in the stamp of a message; 0 if no journal has it. */
    public static long revisionOf(byte[] stamped) {
        if (stamped.length < STAMP || (stamped[0] != 'S' && stamped[0] != 'R')) {
            return 0;
        }
        long revision = 0;
        for (int i = 1; i < STAMP; i++) {
            int digit = Character.digit(stamped[i], Character.MAX_RADIX);
            if (digit < 0) {
                return 0; // of another writer
            }
            revision = revision * Character.MAX_RADIX + digit;
        }
        return revision;
    }

    public static byte[] envelopeOf(byte[] stamped) {
        return Arrays.copyOfRange(stamped, Math.min(STAMP, stamped.length), stamped.length);
    }

    /**
     * Holds failures, lapses and the redelivered mark of an entry of {@code attempts}.
     */
    public record Attempts(int failures, int lapses, boolean redelivered) {

        public static final Attempts NONE = new Attempts(0, 0, false);

        /** The field of the texts, which may have colons. */
        private static final int TEXT_FIELD = 6;

        /** Matches entries that scripts accept; they ignore anything else too. */
        private static final Pattern FORM = Pattern.compile("(\\d+):(\\d+):(\\d):[A-Za-z]:\\d+:.*", Pattern.DOTALL);

        /** Matches the texts of failures; see with_failure in prelude-entries.lua. */
        private static final Pattern TEXTS = Pattern.compile("(.*)\\n(\\d{1,15}) ([^\\n]*)", Pattern.DOTALL);

        /** Returns the failures of an entry; {@code null} if there are none. */
        public static @Nullable FailureReasons reasonsOf(Object entry) {
            Attempts attempts = of(entry);
            if (attempts.failures() == 0) {
                return null;
            }
            String texts = text(entry).split(":", TEXT_FIELD)[TEXT_FIELD - 1];
            Matcher fields = TEXTS.matcher(texts);
            String first = fields.matches() ? fields.group(1) : texts;
            if (!fields.matches()) {
                return new FailureReasons(first.isEmpty() ? null : first, null, null);
            }
            String last = fields.group(3).isEmpty() ? first : fields.group(3);
            return new FailureReasons(first.isEmpty() ? null : first, last,
                    Instant.ofEpochMilli(millis(fields.group(2))));
        }

        public static Attempts of(Object entry) {
            if (((byte[]) entry).length == 0) {
                return NONE;
            }
            Matcher fields = FORM.matcher(text(entry));
            return fields.matches() ? new Attempts(ScriptCodec.count(fields.group(1)),
                    ScriptCodec.count(fields.group(2)), !fields.group(3).equals("0")) : NONE;
        }

    }

    /** Holds due time, expiry, lane and group of an entry of {@code details}. */
    public record Details(@Nullable Instant dueAt, @Nullable Instant expiresAt, int lane, @Nullable String group) {

        public static final Details NONE = new Details(null, null, MessageLimits.NORMAL_PRIORITY, null);

        /** Matches entries that scripts accept, as in {@link Attempts}. */
        private static final Pattern FORM = Pattern.compile("(\\d+):(\\d+):(\\d):?(.*)", Pattern.DOTALL);

        public static Details of(Object entry) {
            if (((byte[]) entry).length == 0) {
                return NONE;
            }
            // Names are read as bytes, some of which may be no characters.
            Matcher fields = FORM.matcher(raw(entry));
            if (!fields.matches()) {
                return NONE;
            }
            long expiry = millis(fields.group(2));
            String group = name(bytesOfRaw(fields.group(4)));
            return new Details(Instant.ofEpochMilli(millis(fields.group(1))),
                    (expiry == 0) ? null : Instant.ofEpochMilli(expiry), Integer.parseInt(fields.group(3)),
                    group.isEmpty() ? null : group);
        }

    }

}

package io.delayqueue.redis.check;

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.delayqueue.DelayQueueException;
import io.delayqueue.MessageLimits;
import io.delayqueue.PayloadConversionException;
import io.delayqueue.QueueName;
import io.delayqueue.admin.Finding;
import io.delayqueue.fixtures.InputMutator;
import io.delayqueue.redis.DeadLetterContent;
import io.delayqueue.redis.script.RedisExceptionTranslator;
import io.delayqueue.redis.script.RedisKeys;
import io.delayqueue.redis.script.RedisScripts;
import io.delayqueue.redis.script.ScriptCodec;
import io.delayqueue.redis.wakeup.WakeUpParsers;
import io.delayqueue.store.DeadLetterCursor;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionLayout;
import io.delayqueue.store.WakeUpSignal;
import io.delayqueue.store.envelope.Envelope;
import io.delayqueue.store.envelope.EnvelopeCodec;
import io.delayqueue.store.envelope.PayloadReader;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

/**
 * Every parser reads or rejects any input from Redis as documented: nothing else is
 * thrown, no stack and no heap is used up, and nothing hangs. A written envelope is read
 * unchanged. Some thousand inputs for each parser, or for as long as
 * {@code -Ddq.fuzz.seconds} says; {@code -Ddq.seed} repeats a run.
 */
@Tag("long")
class ParserFuzzTests {

    private static final long SEED = Long.getLong("dq.seed", ThreadLocalRandom.current().nextLong(1_000_000));

    private static final int INPUTS = 2_000;

    private static final Duration SECONDS = Duration.ofSeconds(Integer.getInteger("dq.fuzz.seconds", 0));

    private static final Duration HANGS = Duration.ofMinutes(5);

    /** The largest number of 16 digits, in milliseconds. */
    private static final long MAX_TIME = 9_999_999_999_999_999L;

    private static final EnvelopeCodec CODEC = new EnvelopeCodec(JsonMapper.builder().build());

    private static final Partition PARTITION = Partition.first(new QueueName("orders"));

    @ParameterizedTest
    @EnumSource
    @Timeout(value = 1, unit = TimeUnit.DAYS)
    void readsOrRefuses(Parser parser) {
        InputMutator mutations = new InputMutator(parser.corpus, SEED);
        byte[][] current = new byte[1][];
        long[] count = new long[1];
        try {
            assertTimeoutPreemptively(HANGS.plus(SECONDS), () -> {
                long end = System.nanoTime() + SECONDS.dividedBy(Parser.values().length).toNanos();
                while (count[0] < INPUTS || !SECONDS.isZero() && System.nanoTime() - end < 0) {
                    current[0] = mutations.input(count[0]++);
                    parser.feed(current[0]);
                }
            });
        }
        catch (Throwable ex) {
            throw new AssertionError("Input %d of -Ddq.seed=%d, %d bytes, in base 64: %s".formatted(count[0], SEED,
                    current[0].length, text(Arrays.copyOf(current[0], Math.min(current[0].length, 2_000)))), ex);
        }
        if (!SECONDS.isZero()) {
            System.out.println("%s has read %,d inputs of -Ddq.seed=%d".formatted(parser, count[0], SEED));
        }
    }

    private static String text(byte[] input) {
        return Base64.getEncoder().encodeToString(input);
    }

    @Test
    void aWrittenEnvelopeIsReadUnchanged() {
        Random random = new Random(SEED);
        PayloadReader reader = CODEC.reader(JsonNode.class);
        for (int i = 0; i < 1_000; i++) {
            Object payload = value(random, 4);
            Map<String, String> headers = new TreeMap<>();
            IntStream.range(0, random.nextInt(4)).forEach((each) -> headers.put(string(random), string(random)));

            byte[] written = CODEC.write(payload, headers);

            Envelope envelope = CODEC.read(written);
            assertThat(envelope.headers()).as("-Ddq.seed=%d", SEED).isEqualTo(headers);
            assertThat(CODEC.readPayload(envelope.payload(), Object.class)).as("-Ddq.seed=%d", SEED).isEqualTo(payload);
            assertThat(reader.read(written).headers()).isEqualTo(headers);
        }
    }

    private static Object value(Random random, int depth) {
        return switch (random.nextInt((depth > 0) ? 6 : 4)) {
            case 0 -> string(random);
            case 1 -> random.nextInt();
            case 2 -> random.nextBoolean();
            case 3 -> random.nextGaussian();
            case 4 -> Stream.generate(() -> value(random, depth - 1)).limit(random.nextInt(4)).toList();
            default -> {
                Map<String, Object> map = new TreeMap<>();
                IntStream.range(0, random.nextInt(4)).forEach((i) -> map.put(string(random), value(random, depth - 1)));
                yield map;
            }
        };
    }

    /** Returns a text of any characters, control characters and emoji included. */
    private static String string(Random random) {
        return random.ints(random.nextInt(12), 0, 0x1ffff)
            .map((point) -> (point % 3 == 0) ? point % 128 : point)
            .filter((point) -> Character.getType(point) != Character.SURROGATE)
            .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
            .toString();
    }

    record Order(int number, BigDecimal amount, Instant at, Duration span, Map<String, List<Long>> more) {
    }

    /** Lists the parsers, each with an example of every form that it reads. */
    private enum Parser {

        ENVELOPE("{\"payload\":{\"number\":1,\"amount\":1.5,\"at\":\"2026-01-01T00:00:00Z\",\"span\":\"PT1S\"}}",
                "{\"headers\":{\"a\":\"b\",\"c\":\"\\u00e9\"},\"payload\":{\"more\":{\"x\":[1,2]}}}",
                "{\"payload\":\"text\"}", "{\"v\":1,\"other\":[{}],\"payload\":[1,-2.5e3,true,null]}",
                "{\"payload\":{\"at\":1.5,\"span\":2}}") {

            private final PayloadReader orders = CODEC.reader(Order.class);

            private final PayloadReader nodes = CODEC.reader(JsonNode.class);

            @Override
            void feed(byte[] input) {
                attempt(() -> this.orders.read(input));
                attempt(() -> CODEC.readPayload(input, Map.class));
                Object quick = attempt(() -> this.nodes.read(input).payload());
                Object thorough = attempt(() -> CODEC.readPayload(CODEC.read(input).payload(), JsonNode.class));
                assertThat(quick).isEqualTo(thorough);
            }

        },

        PARTITIONS("1|1", "3|1,4", "12|128,64,1+", "4|1,4p", "5|2p1790000000000+", "999999999|1,2,3,4,5,6,7,8") {

            @Override
            void feed(byte[] input) {
                String text = ScriptCodec.text(input);
                try {
                    PartitionLayout partitions = PartitionLayout.parse(text);
                    assertThat(PartitionLayout.parse(partitions.text())).isEqualTo(partitions);
                }
                catch (IllegalArgumentException ex) {
                    assertThat(ex.getMessage()).hasSizeLessThan(300);
                }
            }

        },

        SIGNAL("+0:1790000000000", "+86400000000:1790000000000", "k:0:node", "k1500:12:4711abc", "v") {

            @Override
            void feed(byte[] input) {
                WakeUpSignal signal = WakeUpParsers.signalOf(input);
                assertThat(signal.in() == null || !signal.in().isNegative()).isTrue();
            }

        },

        KEYSPACE("zadd", "zrem", "del", "expired") {

            @Override
            void feed(byte[] input) {
                assertThat(WakeUpParsers.ofKeyspace(PARTITION, input))
                    .hasSize(Arrays.equals(input, ScriptCodec.bytes("zadd")) ? 1 : 0);
            }

        },

        CURSOR("1795315738542:m~1795315738542250", "-1:a%0A~1", "0:x") {

            @Override
            void feed(byte[] input) {
                String text = ScriptCodec.text(input);
                try {
                    DeadLetterCursor cursor = DeadLetterCursor.parse(text);
                    assertThat(text).endsWith(":" + cursor.deadLetterId());
                    assertThat(DeadLetterCursor.parse(cursor.deadLetteredMillis() + ":" + cursor.deadLetterId()))
                        .isEqualTo(cursor);
                }
                catch (IllegalArgumentException ex) {
                    assertThat(ex.getMessage()).hasSizeLessThan(300);
                }
            }

        },

        LETTER("1795315738542:1795315738000:1:0:0:4:5:0:causes0000000{\"payload\":1}",
                "1795315738542:-inf:0:2:60000:9+5:5:5:groupcausefirsts0000000{\"payload\":1}", "1:2:3:4:-5:0+1:0:0:g",
                "0:0:0:0:0:4:7:0:missing") {

            @Override
            void feed(byte[] input) {
                DeadLetterContent deadLetter = DeadLetterContent.parse(input);
                assertThat(deadLetter.deadLetteredAt()).isBetween(-MAX_TIME, MAX_TIME);
                assertThat(deadLetter.due()).isBetween(-MAX_TIME, MAX_TIME);
                assertThat(deadLetter.cause().length() + deadLetter.firstFailure().length())
                    .isLessThanOrEqualTo(input.length + DeadLetterContent.UNREADABLE.cause().length());
                assertThat(deadLetter.toMessage(ScriptCodec.name(input)).priority())
                    .isBetween(MessageLimits.MIN_PRIORITY, MessageLimits.MAX_PRIORITY);
            }

        },

        ENTRIES("0:0:4", "1795315738542:1795315799999:9", "1:0:4:group", "1:2:1:h:1795315738542250:IOException: x",
                "0:0:0:l:1:", "3:1:2:l:1795315738542250:a:b", "1.5", "17", "-1e+20", "inf") {

            @Override
            void feed(byte[] input) {
                ScriptCodec.Attempts attempts = ScriptCodec.Attempts.of(input);
                assertThat(attempts.failures()).isNotNegative();
                assertThat(attempts.lapses()).isNotNegative();
                assertThat(ScriptCodec.Details.of(input).lane()).isBetween(MessageLimits.MIN_PRIORITY,
                        MessageLimits.MAX_PRIORITY);
                if (isScore(ScriptCodec.text(input))) {
                    assertThat(Instant.ofEpochMilli(ScriptCodec.floor(input)))
                        .isBeforeOrEqualTo(Instant.ofEpochMilli(ScriptCodec.ceil(input)));
                }
            }

            /** Redis answers with nothing else. */
            private static boolean isScore(String text) {
                return text.length() < 25 && text.matches("-?(?:inf|\\d+(?:\\.\\d+)?(?:e[+-]\\d{1,3})?)");
            }

        },

        NAME("m", "order:42/a@b+c=d~e", "a%0Ab", "100%", "%", "%2", "\u00e9\u2028") {

            @Override
            void feed(byte[] input) {
                String name = ScriptCodec.name(input);
                assertThat(name).matches("[!-~]*");
                assertThat(ScriptCodec.bytesOfName(name)).isEqualTo(input);
                ScriptCodec.bytesOfName(ScriptCodec.text(input));
            }

        },

        ERROR("DQSTALE 3|1,4+", "DQSTALE are 5|1,4p1790000000000+", "DQSTALE",
                "ERR Error running script: @user_script: 12: -OOM command not allowed",
                "NOPERM this user has no permissions", "MOVED 1 127.0.0.1:7000", "OOM command not allowed script: 1") {

            @Override
            void feed(byte[] input) {
                DelayQueueException told = RedisExceptionTranslator.translate(RedisScripts.SEND,
                        new IllegalStateException(ScriptCodec.text(input)), Duration.ofSeconds(1));
                boolean unchanged = told.effect() == DelayQueueException.Effect.NONE;
                assertThat(told).hasMessageEndingWith(unchanged ? "; nothing was changed" : "have taken effect");
            }

        },

        KEY("shop:{orders}:messages", "shop:{orders:12}:scheduled:priorities", "shop:{orders:999}:primary",
                "shop:a:{b}:wake", "shop:x") {

            private final KeyNameCheck names = new KeyNameCheck("shop", (queue) -> 3);

            @Override
            void feed(byte[] input) {
                Finding finding = this.names.check(ScriptCodec.text(input));
                if (finding != null) {
                    assertThat(finding.commands()).allMatch(Parser::isOneCommand);
                }
            }

        },

        FACTS("0:0:4", "1795315738542:0:9:group", "group 001795315738542:m", "1:0:1:h:17:x", "C",
                "S1795315738542:0:4|s0000000{\"payload\":1}", "s0000000{\"payload\":1}", "1795315738542250") {

            @Override
            void feed(byte[] all) {
                // Each finding quotes it several times.
                byte[] input = Arrays.copyOf(all, Math.min(all.length, 500));
                String text = ScriptCodec.text(input);
                InvariantChecks checks = new InvariantChecks(PARTITION, new PartitionLayout(1, List.of(1, 4), true),
                        new RepairCommands(new RedisKeys("shop", PARTITION)), CODEC);
                StoredMessageState.Details details = StoredMessageState.Details.parse(text);
                for (KeyKind key : List.of(KeyKind.MESSAGES, KeyKind.DETAILS, KeyKind.ATTEMPTS, KeyKind.TOKENS,
                        KeyKind.SUCCESSORS, KeyKind.GROUP_HEADS, KeyKind.WAITING)) {
                    for (String first : new @Nullable String[] { text, null }) {
                        checks.check(key, new StoredMessageState(17, text, input, "m", true, details, text, first,
                                first, text, first == null, List.of()));
                    }
                    checks.check(key, new StoredMessageState(17, text, input, text, key.number() % 2 == 0, details,
                            null, null, null, text, false, List.of()));
                }
                checks.checkDeadLetter(KeyKind.DEAD_LETTERS, text, input, input.length % 2 == 0);
                assertThat(checks.findings())
                    .allSatisfy((finding) -> assertThat(finding.commands()).allMatch(Parser::isOneCommand));
            }

        };

        private final List<byte[]> corpus;

        Parser(String... corpus) {
            this.corpus = Stream.of(corpus).map((text) -> text.getBytes(StandardCharsets.UTF_8)).toList();
        }

        /** Throws what a caller would not expect. */
        abstract void feed(byte[] input);

        /** Returns the parsed value, or null if the input is rejected as documented. */
        static @Nullable Object attempt(Supplier<Object> reading) {
            try {
                return reading.get();
            }
            catch (PayloadConversionException ex) {
                assertThat(ex.getMessage().length()).isLessThan(500);
                return null;
            }
        }

        /** Returns whether no character of the input ends the line. */
        static boolean isOneCommand(String command) {
            return command.chars().allMatch((character) -> character >= ' ' && character < 0x7f);
        }

    }

}

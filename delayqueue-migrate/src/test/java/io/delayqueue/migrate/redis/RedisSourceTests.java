package io.delayqueue.migrate.redis;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.delayqueue.fixtures.Variants;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.migrate.MigrationSource;
import io.delayqueue.migrate.EntryOutcome;
import io.delayqueue.migrate.SourceEntry;
import io.delayqueue.migrate.SourceInUseException;
import io.delayqueue.migrate.SourceOptions;
import io.delayqueue.migrate.SourceStatus;
import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.RedisCommandExecutionException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Takes and settles entries of both sources on Redis, whose steps can be repeated. */
@Tag("server")
class RedisSourceTests {

    private static final String ORDER = "redisson_delay_queue:{orders}";

    private static final String TIMEOUTS = "redisson_delay_queue_timeout:{orders}";

    private static final String TAKEN = "delayqueue_migrate:redisson:{orders}";

    private static final String SCHEDULED = "__rq::d-queue::{orders}";

    private static final long DUE = 1_900_000_000_000L;

    private static volatile boolean loaded;

    private RedisServer redis;

    private MigrationSource source;

    static Stream<RedisBinary> binaries() {
        return Variants.areAllTested() ? RedisBinary.startable() : Stream.of(RedisBinary.preferred());
    }

    @AfterEach
    void close() {
        if (this.source != null) {
            this.source.close();
        }
        if (this.redis != null) {
            this.redis.close();
        }
    }

    private void start(RedisBinary binary, MigrationSource source, String... settings) {
        this.redis = RedisServer.start(binary, settings);
        this.source = source;
        source.open(new SourceOptions("redis://127.0.0.1:" + this.redis.port(), null, null, Map.of()));
    }

    @ParameterizedTest
    @MethodSource("binaries")
    void aTakeThatIsRepeatedReturnsTheSameEntries(RedisBinary binary) {
        start(binary, new RedissonSource());
        add(0, 25);

        List<SourceEntry> first = this.source.take("orders", "first", 10);

        assertThat(payloads(this.source.take("orders", "first", 10))).isEqualTo(payloads(first)).hasSize(10);
        assertThat(this.redis.commands().zcard(TIMEOUTS)).isEqualTo(15);
        assertThat(this.redis.commands().llen(ORDER)).isEqualTo(15);
        assertThat(payloads(this.source.take("orders", "second", 100))).hasSize(15)
            .doesNotContainAnyElementsOf(payloads(first));
        assertThat(this.source.take("orders", "third", 10)).isEmpty();
        assertThat(payloads(this.source.unsettled("orders", 100))).hasSize(25);
    }

    @ParameterizedTest
    @MethodSource("binaries")
    void anEntryIsCountedOnceHoweverOftenItIsSettled(RedisBinary binary) {
        start(binary, new RedissonSource());
        add(0, 4);
        this.source.take("orders", "batch", 10);
        List<EntryOutcome> outcomes = List.of(EntryOutcome.sent("batch-1"), EntryOutcome.dropped("batch-2", "deleted"),
                EntryOutcome.unreadable("batch-3", "it is not JSON"));

        this.source.settle("orders", outcomes);
        this.source.settle("orders", outcomes);

        SourceStatus status = this.source.status("orders");
        assertThat(List.of(status.taken(), status.sent(), status.dropped(), status.unreadable(), status.unsettled()))
            .containsExactly(4L, 1L, 1L, 1L, 1L);
        this.source.reopen("orders", () -> false);
        assertThat(this.source.unsettled("orders", 10)).extracting(SourceEntry::id)
            .containsExactlyInAnyOrder("batch-3", "batch-4");
        this.source.settle("orders", List.of(EntryOutcome.sent("batch-3"), EntryOutcome.sent("batch-4")));
        assertThat(this.source.status("orders").sent()).isEqualTo(3);
        assertThat(this.source.status("orders").isComplete()).isTrue();
    }

    /** HSCAN may return empty pages of a large hash whose first entries are gone. */
    @Test
    void manyUnreadableEntriesAreReopened() {
        start(RedisBinary.preferred(), new RedissonSource());
        int number = 40_000;
        for (int first = 0; first < number; first += 1_000) {
            add(first, 1_000);
            List<SourceEntry> batch = this.source.take("orders", "b" + first, 1_000);
            this.source.settle("orders",
                    batch.stream().map((entry) -> EntryOutcome.unreadable(entry.id(), "it is not JSON")).toList());
        }
        assertThat(this.source.status("orders").unreadable()).isEqualTo(number);

        this.source.reopen("orders", () -> false);

        assertThat(this.source.status("orders").unreadable()).isZero();
        assertThat(this.source.status("orders").unsettled()).isEqualTo(number);
    }

    @ParameterizedTest
    @MethodSource("binaries")
    void anotherProcessIsRefusedUntilTheOwnerIsGone(RedisBinary binary) {
        start(binary, new RedissonSource());
        add(0, 4);
        this.redis.commands().set(TAKEN + ":owner", "another");

        assertThatExceptionOfType(SourceInUseException.class).isThrownBy(() -> this.source.own("orders"));
        assertThatExceptionOfType(SourceInUseException.class).isThrownBy(() -> this.source.take("orders", "batch", 10));
        assertThat(this.redis.commands().zcard(TIMEOUTS)).isEqualTo(4);

        this.redis.commands().del(TAKEN + ":owner");
        this.source.own("orders");
        assertThat(this.redis.commands().pttl(TAKEN + ":owner")).isBetween(1L, 10_000L);
        assertThat(this.source.take("orders", "batch", 10)).hasSize(4);
    }

    @ParameterizedTest
    @MethodSource("binaries")
    void recordsAreKeptThatAnotherProcessOwnsOrThatArePending(RedisBinary binary) {
        start(binary, new RedissonSource());
        add(0, 4);
        this.source.take("orders", "batch", 4);
        this.redis.commands().set(TAKEN + ":owner", "another");
        assertThatExceptionOfType(SourceInUseException.class)
            .isThrownBy(() -> this.source.finish("orders", () -> false));
        // The other process was killed, and has left what it had taken.
        this.redis.commands().del(TAKEN + ":owner");
        assertThatExceptionOfType(SourceInUseException.class)
            .isThrownBy(() -> this.source.finish("orders", () -> false));
        assertThat(this.redis.commands().hlen(TAKEN)).isEqualTo(4);

        this.source.settle("orders",
                IntStream.range(1, 5).mapToObj((number) -> EntryOutcome.sent("batch-" + number)).toList());
        this.source.finish("orders", () -> false);

        assertThat(this.redis.commands().keys("*")).isEmpty();
    }

    /** Rqueue writes names without braces where it is not in the mode for clusters. */
    @ParameterizedTest
    @MethodSource("binaries")
    void anotherProcessIsRefusedAlsoWithoutBracesInTheKeys(RedisBinary binary) {
        start(binary, new RqueueSource());
        this.redis.commands().zadd("__rq::d-queue::orders", DUE, message(1, 0));
        assertThat(this.source.queues()).containsExactly("orders");
        this.redis.commands().set("delayqueue_migrate:rqueue:orders:owner", "another");

        assertThatExceptionOfType(SourceInUseException.class).isThrownBy(() -> this.source.own("orders"))
            .withMessageContaining("works on queue 'orders'");
        assertThatExceptionOfType(SourceInUseException.class).isThrownBy(() -> this.source.take("orders", "batch", 10));
        assertThat(this.redis.commands().zcard("__rq::d-queue::orders")).isOne();
    }

    @ParameterizedTest
    @MethodSource("binaries")
    void aFullRedisCanBeDrained(RedisBinary binary) {
        start(binary, new RedissonSource());
        add(0, 20);
        this.redis.commands().configSet("maxmemory-policy", "noeviction");
        this.redis.commands().configSet("maxmemory", "1");

        this.source.own("orders");
        assertThat(this.source.take("orders", "batch", 10)).hasSize(10);
        this.source.settle("orders", List.of(EntryOutcome.sent("batch-1")));

        assertThat(this.source.status("orders").unsettled()).isEqualTo(9);
        assertThat(this.redis.commands().zcard(TIMEOUTS)).isEqualTo(10);
    }

    @ParameterizedTest
    @MethodSource("binaries")
    void entriesThatAreOnlyInTheSetAreTakenLastAndOnlyInTheListAreReported(RedisBinary binary) {
        start(binary, new RedissonSource());
        add(0, 2);
        this.redis.commands().lrem(ORDER, 1, this.redis.commands().lindex(ORDER, 0));
        this.redis.commands().zrem(TIMEOUTS, this.redis.commands().lindex(ORDER, 0));

        List<SourceEntry> taken = this.source.take("orders", "batch", 10);

        assertThat(taken).extracting(SourceEntry::problem)
            .satisfiesExactly((problem) -> assertThat(problem).contains("no due time"),
                    (problem) -> assertThat(problem).isNull());
        assertThat(this.redis.commands().exists(ORDER, TIMEOUTS)).isZero();
    }

    @ParameterizedTest
    @MethodSource("binaries")
    void entriesThatAreOnlyInTheListWait(RedisBinary binary) {
        start(binary, new RedissonSource());
        add(0, 3);
        this.redis.commands().zremrangebyrank(TIMEOUTS, 0, 1);
        assertThat(this.source.status("orders").waiting()).isEqualTo(3);
        assertThat(problems(0, 10)).hasSize(3)
            .startsWith("")
            .filteredOn((problem) -> problem.contains("no due time"))
            .hasSize(2);
        assertThat(problems(0, 2)).hasSize(2).startsWith("");
        assertThat(problems(2, 2)).singleElement().asString().contains("no due time");
        assertThat(problems(3, 2)).isEmpty();

        this.redis.commands().del(TIMEOUTS);

        assertThat(this.source.queues()).containsExactly("orders");
        assertThat(this.source.status("orders").waiting()).isEqualTo(3);
        assertThat(this.source.take("orders", "batch", 10)).hasSize(3);
        assertThat(this.source.status("orders").waiting()).isZero();
    }

    /** A queue {orders} has the keys of the queue orders, but for the list. */
    @ParameterizedTest
    @MethodSource("binaries")
    void dueValuesOfAQueueWhoseNameIsInBracesAreCounted(RedisBinary binary) {
        start(binary, new RedissonSource());
        add(0, 1);
        this.redis.commands().rpush("{orders}", "a", "b");
        this.redis.commands().rpush("orders", "c");
        this.redis.commands().rpush("{shop}:orders", "d");

        assertThat(this.source.status("orders").left()).isEqualTo(Map.of("due, for the consumers of Redisson", 3L));
        assertThat(this.source.status("{shop}:orders").left())
            .isEqualTo(Map.of("due, for the consumers of Redisson", 1L));
    }

    @ParameterizedTest
    @MethodSource("binaries")
    void aKeyOfAnotherTypeLeavesTheSourceAsItIs(RedisBinary binary) {
        start(binary, new RedissonSource());
        add(0, 4);
        this.redis.commands().set(TAKEN, "text");

        assertThatExceptionOfType(RedisCommandExecutionException.class)
            .isThrownBy(() -> this.source.take("orders", "batch", 10));

        assertThat(this.redis.commands().zcard(TIMEOUTS)).isEqualTo(4);
        assertThat(this.redis.commands().llen(ORDER)).isEqualTo(4);
    }

    @ParameterizedTest
    @MethodSource("binaries")
    void periodicMessagesArePassedOverWhereverTheyAre(RedisBinary binary) {
        start(binary, new RqueueSource());
        for (int i = 0; i < 40; i++) {
            this.redis.commands().zadd(SCHEDULED, DUE + i, message(i, (i % 10 < 7) ? 60_000 : 0));
        }

        List<String> taken = new ArrayList<>();
        List<SourceEntry> batch = this.source.take("orders", "b0", 3);
        for (int i = 1; !batch.isEmpty(); i++) {
            batch.forEach((entry) -> taken.add(entry.businessId()));
            batch = this.source.take("orders", "b" + i, 3);
        }

        assertThat(taken).hasSize(12).doesNotHaveDuplicates().contains("order-7", "order-39");
        assertThat(this.redis.commands().zcard(SCHEDULED)).isEqualTo(28);
        assertThat(this.source.status("orders").waiting()).isZero();
        assertThat(this.source.status("orders").left()).containsEntry("periodic: replace them by schedules", 28L);
        this.redis.commands().zadd(SCHEDULED, DUE, message(100, 0));
        assertThat(this.source.take("orders", "later", 3)).extracting(SourceEntry::businessId)
            .containsExactly("order-100");
    }

    /** The mover of Rqueue takes periodic messages from the head meanwhile. */
    @ParameterizedTest
    @MethodSource("binaries")
    void messagesBehindPeriodicOnesThatAreGoneAreTaken(RedisBinary binary) {
        start(binary, new RqueueSource());
        this.redis.commands().zadd(SCHEDULED, DUE, message(1, 60_000));
        this.redis.commands().zadd(SCHEDULED, DUE + 1, message(2, 0));
        assertThat(this.source.take("orders", "b1", 2)).hasSize(1);

        this.redis.commands().zrem(SCHEDULED, message(1, 60_000));
        this.redis.commands().zadd(SCHEDULED, DUE + 2, message(3, 0));

        assertThat(this.source.take("orders", "b2", 2)).extracting(SourceEntry::businessId).containsExactly("order-3");
    }

    @ParameterizedTest
    @MethodSource("binaries")
    void aPayloadThatLooksPeriodicIsNot(RedisBinary binary) {
        start(binary, new RqueueSource());
        this.redis.commands()
            .zadd(SCHEDULED, DUE, message(1, 0).replace("\\\"number\\\"", "\\\"period\\\":5,\\\"number\\\""));

        assertThat(this.source.take("orders", "batch", 3)).singleElement()
            .satisfies((entry) -> assertThat(new String(entry.payload(), StandardCharsets.UTF_8))
                .isEqualTo("{\"period\":5,\"number\":1}"));
    }

    @ParameterizedTest
    @ValueSource(doubles = { 0x1p63, Double.POSITIVE_INFINITY })
    void aQueueWithAScoreThatIsNoTimeCanBeReadAndTaken(double score) {
        start(RedisBinary.preferred(), new RqueueSource());
        this.redis.commands().zadd(SCHEDULED, DUE, message(1, 0));
        this.redis.commands().zadd(SCHEDULED, score, message(2, 0));
        Instant last = Instant.ofEpochMilli(Long.MAX_VALUE);

        assertThat(this.source.status("orders").lastDue()).isEqualTo(last);
        assertThat(this.source.peek("orders", 0, 10)).extracting(SourceEntry::dueAt)
            .containsExactly(Instant.ofEpochMilli(DUE), last);
        assertThat(this.source.take("orders", "batch", 10)).extracting(SourceEntry::dueAt)
            .containsExactly(Instant.ofEpochMilli(DUE), last);
        assertThat(this.source.unsettled("orders", 10)).hasSize(2);
    }

    /** Rqueue handles the message that was enqueued last under an id, and no other. */
    @ParameterizedTest
    @MethodSource("binaries")
    void aMessageWhoseIdWasEnqueuedAgainIsDropped(RedisBinary binary) {
        start(binary, new RqueueSource());
        String successor = message(1, 0).replace("\"queuedTime\":1,", "\"queuedTime\":2,");
        this.redis.commands().zadd(SCHEDULED, DUE, message(1, 0));
        this.redis.commands().zadd(SCHEDULED, DUE + 1, successor);
        this.redis.commands().zadd(SCHEDULED, DUE + 2, message(2, 0));
        this.redis.commands().zadd(SCHEDULED, DUE + 3, message(3, 0));
        enqueuedLast(1, successor);
        enqueuedLast(2, "null");
        enqueuedLast(3, message(3, 0));

        assertThat(this.source.peek("orders", 0, 10)).extracting(SourceEntry::drop)
            .containsExactly("superseded", null, null, null);
        List<SourceEntry> taken = this.source.take("orders", "batch", 10);

        assertThat(taken).extracting(SourceEntry::drop).containsExactly("superseded", null, null, null);
        assertThat(taken).allSatisfy((entry) -> assertThat(entry.headers()).isEmpty());
        assertThat(this.source.unsettled("orders", 10)).extracting(SourceEntry::drop).containsOnlyOnce("superseded");
    }

    @ParameterizedTest
    @MethodSource("binaries")
    void recordsOfAnotherKeyPrefixAreNotResumed(RedisBinary binary) {
        start(binary, new RqueueSource());
        this.redis.commands().zadd(SCHEDULED, DUE, message(1, 0));
        this.redis.commands().zadd("app::d-queue::{orders}", DUE, message(2, 0));
        this.source.take("orders", "batch", 10);

        try (MigrationSource other = new RqueueSource()) {
            other.open(new SourceOptions("redis://127.0.0.1:" + this.redis.port(), null, null,
                    Map.of("key-prefix", "app::")));
            assertThat(other.unsettled("orders", 10)).isEmpty();
            assertThat(other.take("orders", "batch", 10)).extracting(SourceEntry::businessId)
                .containsExactly("order-2");
            assertThat(other.queues()).containsExactly("orders");
        }

        assertThat(this.source.unsettled("orders", 10)).extracting(SourceEntry::businessId).containsExactly("order-1");
        assertThat(this.source.queues()).containsExactly("orders");
    }

    /** Writes the record about an id as Rqueue does. */
    private void enqueuedLast(int number, String message) {
        this.redis.commands()
            .set("__rq::m-mdata::orders::order-" + number,
                    ("{\"@class\":\"com.github.sonus21.rqueue.models.db.MessageMetadata\",\"id\":\"id\",\"deleted\":false,"
                            + "\"rqueueMessage\":%s,\"status\":\"ENQUEUED\"}")
                        .formatted(message));
    }

    @ParameterizedTest
    @MethodSource("binaries")
    void classesThatAMessageNamesAreNotLoaded(RedisBinary binary) {
        start(binary, new RqueueSource());
        String named = message(1, 0).replace("com.github.sonus21.rqueue.core.RqueueMessage", Loaded.class.getName())
            .replace("{\\\"number\\\":1}",
                    "{\\\"msg\\\":\\\"1\\\",\\\"name\\\":\\\"%s\\\"}".formatted(Loaded.class.getName()));
        this.redis.commands().zadd(SCHEDULED, DUE, named);

        assertThat(this.source.take("orders", "batch", 3)).singleElement()
            .satisfies((entry) -> assertThat(new String(entry.payload(), StandardCharsets.UTF_8)).isEqualTo("1"));

        assertThat(loaded).isFalse();
    }

    /** The default user needs no password here, so it would be used without an error. */
    @Test
    void theGivenUserAndPasswordOverrideThoseOfTheUrl() {
        this.redis = RedisServer.start(RedisBinary.preferred());
        for (String user : List.of("mover", "other")) {
            this.redis.commands()
                .aclSetuser(user, AclSetuserArgs.Builder.on().addPassword("secret").allKeys().allCommands());
        }

        assertThat(connectedUser(":secret", "mover", null)).isEqualTo("mover");
        assertThat(connectedUser("other:secret", "mover", null)).isEqualTo("mover");
        assertThat(connectedUser("mover:wrong", null, "secret")).isEqualTo("mover");
        assertThat(connectedUser("other:wrong", "mover", "secret")).isEqualTo("mover");
        assertThat(connectedUser("mover:secret", null, null)).isEqualTo("mover");
    }

    private String connectedUser(String inUrl, @Nullable String user, @Nullable String password) {
        try (RedissonSource connected = new RedissonSource()) {
            String url = "redis://%s@127.0.0.1:%d".formatted(inUrl, this.redis.port());
            connected.open(new SourceOptions(url, user, password, Map.of()));
            return connected.redis().commands().aclWhoami();
        }
    }

    /** Is named by a message. */
    static final class Loaded {

        static {
            loaded = true;
        }

    }

    /** Returns what a dry run finds; empty for an entry that can be moved. */
    private List<String> problems(long offset, int limit) {
        return this.source.peek("orders", offset, limit)
            .stream()
            .map((entry) -> Objects.requireNonNullElse(entry.problem(), ""))
            .toList();
    }

    private static List<String> payloads(List<SourceEntry> entries) {
        return entries.stream().map((entry) -> new String(entry.payload(), StandardCharsets.UTF_8)).toList();
    }

    /** Writes entries as Redisson does. */
    private void add(int first, int number) {
        for (int i = first; i < first + number; i++) {
            byte[] value = ("{\"number\":" + i + "}").getBytes(StandardCharsets.US_ASCII);
            byte[] member = ByteBuffer.allocate(17 + value.length)
                .order(ByteOrder.LITTLE_ENDIAN)
                .put((byte) 8)
                .putLong(i)
                .putLong(value.length)
                .put(value)
                .array();
            String text = new String(member, StandardCharsets.US_ASCII);
            this.redis.commands().zadd(TIMEOUTS, DUE + i, text);
            this.redis.commands().rpush(ORDER, text);
        }
    }

    /** Returns a message as Rqueue writes it. */
    private static String message(int number, long period) {
        return ("{\"@class\":\"com.github.sonus21.rqueue.core.RqueueMessage\",\"failureCount\":0,\"id\":\"order-%d\","
                + "\"queueName\":\"orders\",\"message\":\"{\\\"number\\\":%d}\",\"retryCount\":null,\"queuedTime\":1,"
                + "\"processAt\":%d,\"period\":%d}")
            .formatted(number, number, DUE + number, period);
    }

}

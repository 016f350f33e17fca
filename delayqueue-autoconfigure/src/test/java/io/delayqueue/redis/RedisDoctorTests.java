package io.delayqueue.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.delayqueue.DelayQueueDoctor;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.Examination;
import io.delayqueue.Finding;
import io.delayqueue.OnDuplicate;
import io.delayqueue.QueueName;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.engine.ClaimRequest;
import io.delayqueue.engine.Death;
import io.delayqueue.engine.DueTime;
import io.delayqueue.engine.EnvelopeCodec;
import io.delayqueue.engine.ExpiredPolicy;
import io.delayqueue.engine.Home;
import io.delayqueue.engine.Lease;
import io.delayqueue.engine.NewMessage;
import io.delayqueue.engine.Partition;
import io.delayqueue.engine.Partitions;
import io.delayqueue.testing.ManualClock;
import io.delayqueue.testing.RedisBinary;
import io.delayqueue.testing.RedisServer;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.ScriptOutputType;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.data.redis.RedisConnectionFailureException;
import org.springframework.data.redis.RedisSystemException;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/**
 * P1, P10: each kind of damage is found, and nothing else, in a queue that has a message
 * in each state; and what the doctor proposes repairs it.
 */
class RedisDoctorTests {

    private static final Partition QUEUE = Partition.first(new QueueName("doctor"));

    private static final Home HOME = Home.first(QUEUE.queue());

    private static final byte[] ENVELOPE = "{\"payload\":\"secret\"}".getBytes(StandardCharsets.UTF_8);

    private static final Pattern WORD = Pattern.compile("\"[^\"]*\"|[^ ]+");

    private static RedisServer server;

    private static LettuceConnectionFactory connections;

    private final String namespace = "doctor-" + UUID.randomUUID();

    private final ManualClock clock = new ManualClock();

    private final RedisAccess redis = new RedisAccess(
            new PinnedTimeRunner(RedisAccess.runner(connections, Duration.ofSeconds(30)), this.clock), this.namespace);

    private final RedisMessageStore store = new RedisMessageStore(this.redis);

    private final DelayQueueDoctor doctor = new RedisDoctor(this.redis, () -> connections,
            new EnvelopeCodec(JsonMapper.builder().build()));

    private String letter = "";

    @BeforeAll
    static void connect() {
        server = RedisServer.shared(RedisBinary.preferred());
        connections = Connections.lettuce(server);
    }

    @AfterAll
    static void disconnect() {
        connections.destroy();
    }

    static Stream<Arguments> damages() {
        return Stream.of( //
                damage("ZREM scheduled plain", "MESSAGE_WITHOUT_PLACE plain"),
                damage("ZREM scheduled:7 lane", "MESSAGE_WITHOUT_PLACE lane"),
                damage("HDEL messages plain", "PLACE_WITHOUT_MESSAGE plain"),
                damage("HDEL messages leased|HDEL next leased", "PLACE_WITHOUT_MESSAGE leased", "LEFTOVER leased"),
                damage("ZADD scheduled 5 leased", "SEVERAL_PLACES leased"),
                damage("ZADD scheduled 5 lane", "SEVERAL_PLACES lane"),
                damage("ZREM scheduled:7 lane|ZADD scheduled 5 lane", "WRONG_LANE lane"),
                damage("HSET details ghost 5:0:7", "LEFTOVER ghost"),
                damage("HSET attempts ghost 1:0:0:h:5:boom", "LEFTOVER ghost"),
                damage("HSET renewed ghost 5", "LEFTOVER ghost"), damage("HSET next ghost C", "LEFTOVER ghost"),
                damage("HSET renewed plain 5", "NOT_LEASED plain"), damage("HSET next plain C", "NOT_LEASED plain"),
                damage("ZADD scheduled +inf plain", "IMPOSSIBLE_TIME plain"),
                damage("ZADD scheduled -5 plain", "IMPOSSIBLE_TIME plain"),
                damage("ZADD leased 1e17 leased", "IMPOSSIBLE_TIME leased"),
                damage("HSET attempts retried ?", "UNREADABLE_ENTRY retried"),
                damage("HSET next leased ?", "UNREADABLE_ENTRY leased"),
                damage("HSET renewed leased ?", "UNREADABLE_ENTRY leased"),
                damage("HSET details lane ?", "UNREADABLE_ENTRY lane", "WRONG_LANE lane"),
                damage("ZADD followers 0 g_000000000000005:g2", "LOST_FOLLOWER g2"),
                damage("ZADD followers 0 g_000000000000005:ghost", "PLACE_WITHOUT_MESSAGE ghost"),
                damage("HSET heads other g1", "LOST_HEAD other"), damage("HSET heads other ghost", "LOST_HEAD other"),
                damage("ZREM dead LETTER", "HALF_A_LETTER ID"), damage("HDEL letters LETTER", "HALF_A_LETTER ID"),
                damage("HSET letters LETTER ?", "UNREADABLE_ENTRY ID"), damage("SET wake 5", "WAKE_MARK null"),
                damage("DEL attempts|SET attempts ?", "WRONG_TYPE KEYattempts"));
    }

    private static Arguments damage(String commands, String... findings) {
        return arguments(commands, List.of(findings));
    }

    @ParameterizedTest
    @MethodSource("damages")
    void eachDamageIsFoundAndRepairedByWhatIsProposed(String commands, List<String> findings) {
        fill();
        for (String command : commands.split("\\|")) {
            run(words(command));
        }

        Examination examination = this.doctor.examine("doctor");

        assertThat(examination.complete()).isTrue();
        assertThat(told(examination)).containsExactlyInAnyOrderElementsOf(
                findings.stream().map((finding) -> finding.replace("ID", this.letter).replace("KEY", stem())).toList());
        examination.findings().forEach((finding) -> finding.commands().forEach((command) -> run(parsed(command))));
        assertThat(told(this.doctor.examine("doctor"))).isEmpty();
    }

    /** What helps depends on what is left: the proposals are alternatives. */
    @Test
    void groupsThatDoNotGoOnAreFound() {
        fill();
        run(words("HDEL heads g"));
        assertThat(told(this.doctor.examine("doctor"))).containsExactlyInAnyOrder("NOT_THE_HEAD g1", "LOST_FOLLOWER g2",
                "LOST_FOLLOWER g3");

        run(words("HSET heads g ghost"));
        assertThat(told(this.doctor.examine("doctor"))).containsExactlyInAnyOrder("NOT_THE_HEAD g1", "LOST_HEAD g");

        run(words("HSET heads g g1"));
        run(words("ZREM scheduled g1"));
        Examination examination = this.doctor.examine("doctor");
        assertThat(told(examination)).containsExactlyInAnyOrder("MESSAGE_WITHOUT_PLACE g1", "LOST_HEAD g");
        examination.findings().forEach((finding) -> finding.commands().forEach((command) -> run(parsed(command))));
        assertThat(told(this.doctor.examine("doctor"))).containsExactly("MESSAGE_WITHOUT_PLACE g1");
    }

    @Test
    void aMessageThatCannotBeReadIsFoundAndItsContentIsNotTold() {
        fill();
        run(words("HSET messages plain sabcdefg{\"payload\":\"secret"));
        run(words("HSET messages retried s"));

        List<Finding> findings = this.doctor.examine("doctor").findings();

        assertThat(findings).extracting(Finding::kind).containsOnly(Finding.Kind.UNREADABLE_MESSAGE);
        assertThat(findings).extracting(Finding::id).containsExactlyInAnyOrder("plain", "retried");
        assertThat(findings.toString()).doesNotContain("secret");
    }

    @Test
    void aWakeMarkOfAnEmptyQueueIsFound() {
        run(words("SET wake 5 PX 100000"));

        assertThat(told(this.doctor.examine("doctor"))).containsExactly("WAKE_MARK null");
    }

    @Test
    void aMessageThatIsNotAtHomeIsFound() {
        spread("2|1,4");
        Partitions partitions = Partitions.parse("2|1,4");
        List<Partition> homes = partitions.homes(QUEUE.queue(), "astray").stream().map(Home::partition).toList();
        for (Partition partition : partitions.all(QUEUE.queue())) {
            run(List.of("HSET", key(partition, "messages"), "astray", "-foreign{\"payload\":1}"));
            run(List.of("ZADD", key(partition, "scheduled"), "5", "astray"));
        }

        List<Finding> findings = this.doctor.examine("doctor").findings();

        assertThat(findings).extracting(Finding::kind).containsOnly(Finding.Kind.NOT_AT_HOME);
        assertThat(findings).hasSize(4 - homes.size())
            .noneMatch((finding) -> homes.contains(new Partition(QUEUE.queue(), finding.partition())));
    }

    @Test
    void partitionsThatDisagreeAreFound() {
        spread("2|1,4");
        assertThat(told(this.doctor.examine("doctor"))).isEmpty();
        run(List.of("SET", key(new Partition(QUEUE.queue(), 2), "partitions"), "1|1"));

        Examination examination = this.doctor.examine("doctor");

        assertThat(told(examination)).containsExactly("RECORDS_DISAGREE null");
        assertThat(examination.findings().get(0).partition()).isEqualTo(2);
        examination.findings().forEach((finding) -> finding.commands().forEach((command) -> run(parsed(command))));
        assertThat(told(this.doctor.examine("doctor"))).isEmpty();
    }

    @Test
    void aRecordThatTheFirstPartitionHasLostOrCannotReadIsFound() {
        spread("2|1,4");
        run(List.of("DEL", key(QUEUE, "partitions")));
        assertThat(told(this.doctor.examine("doctor"))).containsExactly("RECORDS_DISAGREE null");

        run(List.of("SET", key(QUEUE, "partitions"), "?"));
        assertThat(told(this.doctor.examine("doctor"))).contains("UNREADABLE_ENTRY null");
    }

    @Test
    void keysThatNobodyUsesAreFound() {
        fill();
        spread("2|1,4");
        run(List.of("SET", this.namespace + ":other-namespace:{q}:messages", "1"));
        assertThat(this.doctor.examineKeys().findings()).isEmpty();
        List<String> foreign = List.of(this.namespace + ":doctor:messages", this.namespace + ":{doctor}:scheduled:11",
                this.namespace + ":{a b}:messages");
        foreign.forEach((key) -> run(List.of("SET", key, "1")));
        run(List.of("SET", this.namespace + ":{doctor:4}:messages", "1"));
        run(List.of("SET", this.namespace + ":{doctor:4}:partitions", "1|1"));

        Examination examination = this.doctor.examineKeys();

        assertThat(examination.findings()).filteredOn((finding) -> finding.kind() == Finding.Kind.FOREIGN_KEY)
            .extracting(Finding::id)
            .containsExactlyInAnyOrderElementsOf(foreign);
        assertThat(examination.findings()).filteredOn((finding) -> finding.kind() == Finding.Kind.UNKNOWN_PARTITION)
            .extracting(Finding::id)
            .containsExactly(this.namespace + ":{doctor:4}:messages");
        assertThat(examination.examined()).isGreaterThan(15);
    }

    @Test
    void whoCannotLookAtKeysIsToldAsWithEveryOtherCall() {
        assertThatExceptionOfType(StoreUnavailableException.class)
            .isThrownBy(() -> keysFail(new RedisConnectionFailureException("down")))
            .satisfies((failure) -> assertThat(failure.effect()).isEqualTo(Effect.NONE));
        assertThatExceptionOfType(StoreRefusedException.class)
            .isThrownBy(() -> keysFail(new RedisSystemException("refused",
                    new RedisCommandExecutionException("NOPERM this user has no permissions to run 'scan'"))))
            .satisfies((failure) -> assertThat(failure.effect()).isEqualTo(Effect.NONE));
    }

    private void keysFail(RuntimeException failure) {
        new RedisDoctor(this.redis, () -> {
            throw failure;
        }, new EnvelopeCodec(JsonMapper.builder().build())).examineKeys();
    }

    /** Neither the memory nor a single call grows with the number of messages. */
    @ParameterizedTest
    @ValueSource(ints = { 150, 2_500 })
    void tellsSoManyAtOnceAndThatThereAreMore(int messages) {
        List<String> command = new ArrayList<>(List.of("HSET", key(QUEUE, "messages")));
        for (int i = 0; i < messages; i++) {
            command.addAll(List.of("id" + i, "-foreign{\"payload\":1}"));
        }
        run(command);

        Examination examination = this.doctor.examine("doctor");

        assertThat(examination.examined()).isEqualTo(messages);
        assertThat(examination.findings()).hasSize(Math.min(messages, DelayQueueDoctor.MOST_FINDINGS));
        assertThat(examination.complete()).isEqualTo(messages == 150);
        assertThat(examination.isSound()).isFalse();
    }

    /** A message in each state, and all that can be known of one. */
    private void fill() {
        send("leased", 4, null, null, Duration.ZERO);
        send("retried", 4, null, null, Duration.ZERO);
        send("dead", 4, Duration.ofHours(1), null, Duration.ZERO);
        List<Lease> leases = done(
                this.store.claim(QUEUE, new ClaimRequest(10, Duration.ofMinutes(1), ExpiredPolicy.DROP)))
            .messages()
            .stream()
            .map((message) -> message.lease())
            .toList();
        for (Lease lease : leases) {
            switch (lease.id()) {
                case "retried" -> done(this.store.retry(lease, Duration.ofHours(1), "boom"));
                case "dead" -> {
                    done(this.store.deadLetter(lease, new Death("boom", true, ManualClock.START)));
                    this.letter = lease.letterId();
                }
                default -> {
                    done(this.store.extend(QUEUE, leases, Duration.ofHours(2)));
                    send("leased", 4, null, null, Duration.ofHours(3));
                }
            }
        }
        send("plain", 4, null, null, Duration.ofHours(1));
        send("lane", 7, Duration.ofHours(1), null, Duration.ofHours(1));
        for (int i = 1; i <= 3; i++) {
            send("g" + i, 4, null, "g", Duration.ofMinutes(i));
        }
        assertThat(told(this.doctor.examine("doctor"))).isEmpty();
    }

    private void send(String id, int priority, @Nullable Duration timeToLive, @Nullable String group, Duration delay) {
        done(this.store.schedule(HOME, List.of(new NewMessage(id, false, DueTime.after(delay), OnDuplicate.KEEP,
                priority, timeToLive, group, ENVELOPE))));
    }

    private void spread(String record) {
        Partitions.parse(record)
            .all(QUEUE.queue())
            .forEach((partition) -> run(List.of("SET", key(partition, "partitions"), record)));
    }

    private static List<String> told(Examination examination) {
        return examination.findings().stream().map((finding) -> finding.kind() + " " + finding.id()).toList();
    }

    /** A command on a key of the queue; in a word, a line stands for a blank. */
    private List<String> words(String command) {
        List<String> words = new ArrayList<>(List.of(command.split(" ")));
        words.set(1, stem() + words.get(1));
        words.replaceAll((word) -> word.equals("LETTER") ? this.letter : word.replace('_', ' '));
        return words;
    }

    /** A command as the doctor writes it. */
    private static List<String> parsed(String command) {
        return WORD.matcher(command).results().map(MatchResult::group).map((word) -> word.replace("\"", "")).toList();
    }

    private static void run(List<String> command) {
        server.commands()
            .eval("return redis.call(unpack(ARGV))", ScriptOutputType.MULTI, new String[0],
                    command.toArray(String[]::new));
    }

    private String stem() {
        return key(QUEUE, "");
    }

    private String key(Partition partition, String kind) {
        return this.namespace + ":{" + partition + "}:" + kind;
    }

    private static <T> T done(CompletableFuture<T> answer) {
        return answer.join();
    }

}

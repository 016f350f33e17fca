package io.delayqueue.redis.check;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.admin.DelayQueueIntegrityChecker;
import io.delayqueue.admin.Finding;
import io.delayqueue.admin.IntegrityReport;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionLayout;
import io.delayqueue.store.PartitionTarget;
import io.delayqueue.store.envelope.EnvelopeCodec;
import io.lettuce.core.RedisCommandExecutionException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.data.redis.RedisConnectionFailureException;
import org.springframework.data.redis.RedisSystemException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/**
 * P1, P10: each kind of damage is found, and nothing else, in a queue that has a message
 * in each state; and what the doctor proposes repairs it.
 */
@Tag("server")
class RedisIntegrityCheckerTests extends DoctorFixture {

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
                damage("SET wake 5", "WAKE_MARK null"),
                damage("ZREM scheduled:7 lane|ZADD scheduled 5 lane|ZADD scheduled:2 6 lane", "SEVERAL_PLACES lane"),
                damage("ZREM scheduled g1", "MESSAGE_WITHOUT_PLACE g1", "LOST_HEAD g"),
                damage("ZADD scheduled 5 g2", "SEVERAL_PLACES g2"),
                damage("DEL attempts|SET attempts ?", "WRONG_TYPE KEYattempts"));
    }

    private static Arguments damage(String commands, String... findings) {
        return arguments(commands, List.of(findings));
    }

    @ParameterizedTest
    @MethodSource("damages")
    void eachDamageIsFoundAndRepairedByWhatIsProposed(String commands, List<String> findings) {
        fill();
        damage(commands);

        IntegrityReport examination = this.doctor.examine("doctor");

        assertThat(examination.complete()).isTrue();
        assertThat(told(examination)).containsExactlyInAnyOrderElementsOf(
                findings.stream().map((finding) -> finding.replace("ID", this.letter).replace("KEY", stem())).toList());
        for (int round = 0; round < 2; round++) { // one of two lanes first, then the
                                                  // right one
            this.doctor.examine("doctor").findings().forEach(DoctorFixture::repair);
        }
        assertThat(told(this.doctor.examine("doctor"))).isEmpty();
    }

    @Test
    void groupsThatDoNotGoOnAreFound() {
        fill();
        run(words("HDEL heads g"));
        assertThat(told(this.doctor.examine("doctor"))).containsExactlyInAnyOrder("NOT_THE_HEAD g1", "LOST_FOLLOWER g2",
                "LOST_FOLLOWER g3");

        run(words("HSET heads g ghost"));
        assertThat(told(this.doctor.examine("doctor"))).containsExactlyInAnyOrder("NOT_THE_HEAD g1", "LOST_HEAD g");
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
        PartitionLayout partitions = PartitionLayout.parse("2|1,4");
        List<Partition> homes = partitions.homes(QUEUE.queue(), "astray")
            .stream()
            .map(PartitionTarget::partition)
            .toList();
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

        IntegrityReport examination = this.doctor.examine("doctor");

        assertThat(told(examination)).containsExactly("RECORDS_DISAGREE null");
        assertThat(examination.findings().get(0).partition()).isEqualTo(2);
        examination.findings().forEach(DoctorFixture::repair);
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
        run(List.of("SET", key(QUEUE, "replicated"), "", "PX", "100000")); // of sends
                                                                           // that wait
                                                                           // for replicas
        run(List.of("SET", this.namespace + ":{doctor:4}:messages", "1"));
        run(List.of("SET", this.namespace + ":{doctor:4}:partitions", "1|1"));

        IntegrityReport examination = this.doctor.examineKeys();

        assertThat(examination.findings()).filteredOn((finding) -> finding.kind() == Finding.Kind.FOREIGN_KEY)
            .extracting(Finding::id)
            .containsExactlyInAnyOrderElementsOf(foreign.stream().map((key) -> key.replace(" ", "%20")).toList());
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
        new RedisIntegrityChecker(this.redis, () -> {
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

        IntegrityReport examination = this.doctor.examine("doctor");

        assertThat(examination.examined()).isEqualTo(messages);
        assertThat(examination.findings()).hasSize(Math.min(messages, DelayQueueIntegrityChecker.MOST_FINDINGS));
        assertThat(examination.complete()).isEqualTo(messages == 150);
        assertThat(examination.isSound()).isFalse();
    }

    private void spread(String record) {
        PartitionLayout.parse(record)
            .all(QUEUE.queue())
            .forEach((partition) -> run(List.of("SET", key(partition, "partitions"), record)));
    }

}

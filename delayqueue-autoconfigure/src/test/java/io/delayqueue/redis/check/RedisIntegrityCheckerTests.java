package io.delayqueue.redis.check;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.admin.DelayQueueIntegrityChecker;
import io.delayqueue.admin.Finding;
import io.delayqueue.admin.IntegrityReport;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.ExpiryPolicy;
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
 * in each state; and the proposed commands repair it.
 */
@Tag("server")
class RedisIntegrityCheckerTests extends IntegrityCheckFixture {

    static Stream<Arguments> damages() {
        return Stream.of( //
                damage("ZREM scheduled plain", "UNSCHEDULED_MESSAGE plain"),
                damage("ZREM scheduled:priorities lane", "UNSCHEDULED_MESSAGE lane"),
                damage("HDEL messages plain", "MISSING_CONTENT plain"),
                damage("HDEL messages leased|HDEL successors leased", "MISSING_CONTENT leased",
                        "ORPHANED_ENTRY leased"),
                damage("ZADD scheduled 5 leased", "SEVERAL_PLACES leased"),
                damage("ZADD scheduled 5 lane", "SEVERAL_PLACES lane"),
                damage("ZREM scheduled:priorities lane|ZADD scheduled 5 lane", "WRONG_LANE lane"),
                damage("HSET details ghost 5:0:7", "ORPHANED_ENTRY ghost"),
                damage("HSET attempts ghost 1:0:0:h:5:boom", "ORPHANED_ENTRY ghost"),
                damage("HSET tokens ghost 5", "ORPHANED_ENTRY ghost"),
                damage("HSET successors ghost C", "ORPHANED_ENTRY ghost"),
                damage("HSET tokens plain 5", "NOT_LEASED plain"),
                damage("HSET successors plain C", "NOT_LEASED plain"),
                damage("ZADD scheduled +inf plain", "IMPOSSIBLE_TIME plain"),
                damage("ZADD scheduled -5 plain", "IMPOSSIBLE_TIME plain"),
                damage("ZADD leased 1e17 leased", "IMPOSSIBLE_TIME leased"),
                damage("HSET attempts retried ?", "UNREADABLE_ENTRY retried"),
                damage("HSET successors leased ?", "UNREADABLE_ENTRY leased"),
                damage("HSET tokens leased ?", "UNREADABLE_ENTRY leased"),
                damage("HSET details lane ?", "UNREADABLE_ENTRY lane", "WRONG_LANE lane"),
                damage("ZADD waiting 0 g_000000000000005:g2", "STRANDED_IN_GROUP g2"),
                damage("ZADD waiting 0 g_000000000000005:ghost", "MISSING_CONTENT ghost"),
                damage("HSET group-heads other g1", "GROUP_HEAD_MISSING other"),
                damage("HSET group-heads other ghost", "GROUP_HEAD_MISSING other"),
                damage("ZREM dead-order LETTER", "INCOMPLETE_DEAD_LETTER ID"),
                damage("HDEL dead-letters LETTER", "INCOMPLETE_DEAD_LETTER ID"), damage("SET wake 5", "WAKE_MARK null"),
                damage("ZREM scheduled:priorities lane|ZADD scheduled 5 lane|ZADD scheduled:priorities 6000000000000006 lane",
                        "SEVERAL_PLACES lane"),
                damage("ZREM scheduled g1", "UNSCHEDULED_MESSAGE g1", "GROUP_HEAD_MISSING g"),
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

        IntegrityReport examination = this.checker.check("checked");

        assertThat(examination.complete()).isTrue();
        assertThat(kindsAndIds(examination)).containsExactlyInAnyOrderElementsOf(findings.stream()
            .map((finding) -> finding.replace("ID", this.deadLetter).replace("KEY", stem()))
            .toList());
        for (int round = 0; round < 2; round++) { // one of two lanes first, then the
                                                  // right one
            this.checker.check("checked").findings().forEach(IntegrityCheckFixture::repair);
        }
        assertThat(kindsAndIds(this.checker.check("checked"))).isEmpty();
    }

    @Test
    void theRepairOfAnImpossibleTimeChangesNothingOnceTheMessageWasClaimed() {
        fill();
        damage("ZADD scheduled -5 plain");
        List<Finding> findings = this.checker.check("checked").findings();
        assertThat(findings).extracting(Finding::kind).containsExactly(Finding.Kind.IMPOSSIBLE_TIME);
        assertThat(done(this.store.claim(QUEUE, new ClaimRequest(10, Duration.ofMinutes(1), ExpiryPolicy.DROP)))
            .messages()).extracting((message) -> message.lease().id()).containsExactly("plain");

        findings.forEach(IntegrityCheckFixture::repair);

        assertThat(kindsAndIds(this.checker.check("checked"))).isEmpty();
    }

    @Test
    void blockedGroupsAreFound() {
        fill();
        run(words("HDEL group-heads g"));
        assertThat(kindsAndIds(this.checker.check("checked"))).containsExactlyInAnyOrder("NOT_GROUP_HEAD g1",
                "STRANDED_IN_GROUP g2", "STRANDED_IN_GROUP g3");

        run(words("HSET group-heads g ghost"));
        assertThat(kindsAndIds(this.checker.check("checked"))).containsExactlyInAnyOrder("NOT_GROUP_HEAD g1",
                "GROUP_HEAD_MISSING g");
    }

    @Test
    void anUnreadableMessageIsFoundWithoutItsContent() {
        fill();
        run(words("HSET messages plain sabcdefg{\"payload\":\"secret"));
        run(words("HSET messages retried s"));

        List<Finding> findings = this.checker.check("checked").findings();

        assertThat(findings).extracting(Finding::kind).containsOnly(Finding.Kind.UNREADABLE_MESSAGE);
        assertThat(findings).extracting(Finding::id).containsExactlyInAnyOrder("plain", "retried");
        assertThat(findings.toString()).doesNotContain("secret");
    }

    @Test
    void aWakeMarkOfAnEmptyQueueIsFound() {
        run(words("SET wake 5 PX 100000"));

        assertThat(kindsAndIds(this.checker.check("checked"))).containsExactly("WAKE_MARK null");
    }

    @Test
    void aMessageInTheWrongPartitionIsFound() {
        partition("2|1,4");
        PartitionLayout partitions = PartitionLayout.parse("2|1,4");
        List<Partition> targets = partitions.targets(QUEUE.queue(), "astray")
            .stream()
            .map(PartitionTarget::partition)
            .toList();
        for (Partition partition : partitions.all(QUEUE.queue())) {
            run(List.of("HSET", key(partition, "messages"), "astray", "-foreign{\"payload\":1}"));
            run(List.of("ZADD", key(partition, "scheduled"), "5", "astray"));
        }

        List<Finding> findings = this.checker.check("checked").findings();

        assertThat(findings).extracting(Finding::kind).containsOnly(Finding.Kind.WRONG_PARTITION);
        assertThat(findings).hasSize(4 - targets.size())
            .noneMatch((finding) -> targets.contains(new Partition(QUEUE.queue(), finding.partition())));
    }

    @Test
    void partitionsThatDisagreeAreFound() {
        partition("2|1,4");
        assertThat(kindsAndIds(this.checker.check("checked"))).isEmpty();
        run(List.of("SET", key(new Partition(QUEUE.queue(), 2), "partitions"), "1|1"));

        IntegrityReport examination = this.checker.check("checked");

        assertThat(kindsAndIds(examination)).containsExactly("PARTITION_LAYOUT_MISMATCH null");
        assertThat(examination.findings().get(0).partition()).isEqualTo(2);
        examination.findings().forEach(IntegrityCheckFixture::repair);
        assertThat(kindsAndIds(this.checker.check("checked"))).isEmpty();
    }

    @Test
    void aRecordThatTheFirstPartitionHasLostOrCannotReadIsFound() {
        partition("2|1,4");
        run(List.of("DEL", key(QUEUE, "partitions")));
        assertThat(kindsAndIds(this.checker.check("checked"))).containsExactly("PARTITION_LAYOUT_MISMATCH null");

        run(List.of("SET", key(QUEUE, "partitions"), "?"));
        assertThat(kindsAndIds(this.checker.check("checked"))).contains("UNREADABLE_ENTRY null");
    }

    @Test
    void foreignKeysAreFound() {
        fill();
        partition("2|1,4");
        run(List.of("SET", this.namespace + ":other-namespace:{q}:messages", "1"));
        assertThat(this.checker.checkKeys().findings()).isEmpty();
        List<String> foreign = List.of(this.namespace + ":checked:messages", this.namespace + ":{checked}:scheduled:11",
                this.namespace + ":{a b}:messages");
        foreign.forEach((key) -> run(List.of("SET", key, "1")));
        run(List.of("SET", key(QUEUE, "replicated"), "", "PX", "100000")); // of sends
                                                                           // that wait
                                                                           // for replicas
        run(List.of("SET", this.namespace + ":{checked:4}:messages", "1"));
        run(List.of("SET", this.namespace + ":{checked:4}:partitions", "1|1"));

        IntegrityReport examination = this.checker.checkKeys();

        assertThat(examination.findings()).filteredOn((finding) -> finding.kind() == Finding.Kind.FOREIGN_KEY)
            .extracting(Finding::id)
            .containsExactlyInAnyOrderElementsOf(foreign.stream().map((key) -> key.replace(" ", "%20")).toList());
        assertThat(examination.findings()).filteredOn((finding) -> finding.kind() == Finding.Kind.UNKNOWN_PARTITION)
            .extracting(Finding::id)
            .containsExactly(this.namespace + ":{checked:4}:messages");
        assertThat(examination.examined()).isGreaterThan(15);
    }

    @Test
    void aFailedScanIsReportedLikeAnyOtherCall() {
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
        }, new EnvelopeCodec(JsonMapper.builder().build())).checkKeys();
    }

    /** Neither the memory nor a single call grows with the number of messages. */
    @ParameterizedTest
    @ValueSource(ints = { 150, 2_500 })
    void findingsAreLimitedAndTheReportIsMarkedIncomplete(int messages) {
        List<String> command = new ArrayList<>(List.of("HSET", key(QUEUE, "messages")));
        for (int i = 0; i < messages; i++) {
            command.addAll(List.of("id" + i, "-foreign{\"payload\":1}"));
        }
        run(command);

        IntegrityReport examination = this.checker.check("checked");

        assertThat(examination.examined()).isEqualTo(messages);
        assertThat(examination.findings()).hasSize(Math.min(messages, DelayQueueIntegrityChecker.MAX_FINDINGS));
        assertThat(examination.complete()).isEqualTo(messages == 150);
        assertThat(examination.isSound()).isFalse();
    }

    private void partition(String record) {
        PartitionLayout.parse(record)
            .all(QUEUE.queue())
            .forEach((partition) -> run(List.of("SET", key(partition, "partitions"), record)));
    }

}

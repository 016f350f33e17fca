package io.delayqueue.redis.check;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;

import io.delayqueue.admin.Finding;
import io.delayqueue.admin.Finding.Kind;
import io.delayqueue.fixtures.redis.ConnectionFactories;
import io.delayqueue.fixtures.store.KeyInvariants;
import io.delayqueue.redis.script.RedisKeys;
import io.delayqueue.redis.script.ScriptCodec;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.data.redis.connection.RedisConnection;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * P1, P10: whatever is damaged, the proposed repairs lose no content and lead to a sound
 * queue; and no character of a name is executed.
 */
@Tag("server")
class RedisIntegrityCheckerRepairTests extends IntegrityCheckFixture {

    private static final int ROUNDS = 25;

    private static final int PAIRS_AT_ONCE = 12;

    /** Besides those of which each has its own findings. */
    private static final List<String> MORE = List.of("HDEL details g1", "HDEL details g2", "HSET details g2 ?",
            "HSET details g3 5:0:9:g", "HDEL group-heads g", "HSET group-heads g g3", "HDEL messages g1",
            "HDEL messages g2", "ZADD scheduled:priorities 5 g3", "DEL waiting", "DEL scheduled", "ZREM leased leased",
            "HDEL messages leased", "HSET successors plain S?more", "HSET successors leased S?",
            "HSET dead-letters LETTER ?",
            "ZADD scheduled:priorities 7000000000000005 plain|ZREM scheduled plain|ZADD scheduled:priorities 6000000000000005 plain",
            "HSET details plain 5:0:9:g", "ZADD waiting 0 other_000000000000005:g2",
            "DEL waiting|ZADD waiting 0 other_000000000000005:g2");

    static Stream<String> damages() {
        return Stream.concat(RedisIntegrityCheckerTests.damages().map((damage) -> (String) damage.get()[0]),
                MORE.stream());
    }

    @ParameterizedTest
    @MethodSource("damages")
    void proposalsLoseNothingAndLeadToASoundQueue(String damage) {
        fill();
        damage(damage);

        repairAll(new Random(damage.hashCode()), damage);
    }

    @ParameterizedTest
    @ValueSource(ints = { 1, 2, 3, 4 })
    void proposalsRepairTwoDamages(int seed) {
        Random random = new Random(seed);
        List<String> damages = damages().toList();
        for (int i = 0; i < PAIRS_AT_ONCE; i++) {
            clear();
            fill();
            String first = damages.get(random.nextInt(damages.size()));
            String second = damages.get(random.nextInt(damages.size()));
            damage(first);
            damage(second);

            repairAll(random, "seed %d, pair %d: %s and %s".formatted(seed, i, first, second));
        }
    }

    /** One at a time or all at once, in any order. */
    private void repairAll(Random random, String of) {
        Map<String, String> content = content();
        List<Finding> open = open();
        for (int round = 0; !open.isEmpty() && round < ROUNDS; round++) {
            List<Finding> chosen = random.nextBoolean() ? open : List.of(open.get(random.nextInt(open.size())));
            chosen.forEach(IntegrityCheckFixture::repair);
            assertThat(content()).as(of + ": content after " + chosen).isEqualTo(content);
            open = open();
        }
        List<Finding> left = this.checker.check("checked").findings();
        assertThat(left).as(of).allMatch(RedisIntegrityCheckerRepairTests::isForPeople);
        assertThat(placesOfEach()).as(of + ": in one place").allSatisfy((id, places) -> assertThat(places).isOne());
        if (left.isEmpty()) {
            new KeyInvariants(connections, this.namespace, QUEUE).check();
        }
    }

    private List<Finding> open() {
        return this.checker.check("checked")
            .findings()
            .stream()
            .filter((finding) -> !finding.commands().isEmpty())
            .toList();
    }

    /** Commands would destroy something, or nothing is needed. */
    private static boolean isForPeople(Finding finding) {
        boolean ofSuccessors = finding.problem().contains("entry in successors")
                || finding.problem().contains("in leased");
        boolean deadLetter = finding.problem().startsWith("the dead letter cannot be read");
        return finding.commands().isEmpty() && (ofSuccessors || deadLetter || finding.kind() == Kind.NOT_GROUP_HEAD);
    }

    /** Reads the contents of messages, dead letters and successors. */
    private Map<String, String> content() {
        Map<String, String> content = new TreeMap<>();
        try (RedisConnection connection = ConnectionFactories.ofFixture(connections)) {
            for (String kind : List.of("messages", "dead-letters", "successors")) {
                connection.hashCommands().hGetAll(ScriptCodec.bytes(key(QUEUE, kind))).forEach((id, value) -> {
                    if (!kind.equals("successors") || value[0] == 'S') {
                        content.put(kind + " " + ScriptCodec.raw(id), ScriptCodec.raw(value));
                    }
                });
            }
        }
        return content;
    }

    private Map<String, Integer> placesOfEach() {
        Map<String, Integer> places = new TreeMap<>();
        try (RedisConnection connection = ConnectionFactories.ofFixture(connections)) {
            for (String kind : List.of("scheduled", "scheduled:priorities", "leased", "waiting")) {
                connection.zSetCommands()
                    .zRange(ScriptCodec.bytes(key(QUEUE, kind)), 0, -1)
                    .forEach((member) -> places.merge(ScriptCodec.raw(member).replaceFirst("^\\S* \\d*:", ""), 1,
                            Integer::sum));
            }
        }
        return places;
    }

    private void clear() {
        try (RedisConnection connection = ConnectionFactories.ofFixture(connections)) {
            connection.keyCommands().del(new RedisKeys(this.namespace, QUEUE).all());
        }
    }

    /** The first follower has another lane than most messages. */
    @Test
    void aNewGroupHeadGoesIntoItsOwnLane() {
        send("a1", 4, null, "a", Duration.ofMinutes(1));
        send("a2", 9, null, "a", Duration.ofMinutes(2));
        damage("ZREM scheduled a1|HDEL messages a1|HDEL details a1");

        repairAll(new Random(1), "a lost head");

        try (RedisConnection connection = ConnectionFactories.ofFixture(connections)) {
            assertThat(connection.zSetCommands().zRange(ScriptCodec.bytes(key(QUEUE, "scheduled:priorities")), 0, -1))
                .hasSize(1);
        }
    }

    /** In the log it is one line, and a second check has the same findings. */
    @ParameterizedTest
    @ValueSource(strings = { "x\nWARN forged", "a\u00ffb", "$(reboot)`reboot`!!", "a b|c;d" })
    void impossibleNamesAreFoundShownAndRepaired(String id) {
        run(List.of("HSET", key(QUEUE, "messages"), id, "-foreign{\"payload\":1}"));

        List<Finding> findings = this.checker.check("checked").findings();

        assertThat(findings).extracting(Finding::id).containsExactly(ScriptCodec.name(ScriptCodec.bytesOfRaw(id)));
        assertThat(findings.toString()).matches("\\p{Print}+");
        assertThat(findings.get(0).commands().toString()).doesNotContain("$", "`", "!", ";");
        findings.forEach(IntegrityCheckFixture::repair);
        assertThat(this.checker.check("checked").isSound()).isTrue();
        assertThat(placesOfEach()).containsOnlyKeys(id);
    }

    @Test
    void noRepairThatDestroysContentIsProposed() {
        fill();
        damage("HSET dead-letters LETTER ?|HSET successors plain S?more");
        List<Finding> findings = this.checker.check("checked").findings();

        assertThat(findings).extracting(Finding::kind)
            .containsExactlyInAnyOrder(Kind.UNREADABLE_ENTRY, Kind.NOT_LEASED);
        assertThat(findings).allMatch((finding) -> finding.commands().isEmpty())
            .allMatch((finding) -> finding.remedy().contains("destroy"));
    }

}

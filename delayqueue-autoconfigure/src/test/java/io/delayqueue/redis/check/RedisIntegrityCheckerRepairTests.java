package io.delayqueue.redis.check;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;

import io.delayqueue.admin.Finding;
import io.delayqueue.admin.Finding.Kind;
import io.delayqueue.redis.Audit;
import io.delayqueue.redis.Connections;
import io.delayqueue.redis.script.RedisKeys;
import io.delayqueue.redis.script.ScriptReplies;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.data.redis.connection.RedisConnection;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * P1, P10: whatever is damaged, what the doctor proposes loses no content and leads to a
 * sound queue; and nothing that a name holds is taken for more than a name.
 */
@Tag("server")
class RedisIntegrityCheckerRepairTests extends DoctorFixture {

    private static final int ROUNDS = 25;

    private static final int PAIRS_AT_ONCE = 12;

    /** Besides those of which each has its own findings. */
    private static final List<String> MORE = List.of("HDEL details g1", "HDEL details g2", "HSET details g2 ?",
            "HSET details g3 5:0:9:g", "HDEL heads g", "HSET heads g g3", "HDEL messages g1", "HDEL messages g2",
            "ZADD scheduled:9 5 g3", "DEL followers", "DEL scheduled", "ZREM leased leased", "HDEL messages leased",
            "HSET next plain S?more", "HSET next leased S?", "HSET letters LETTER ?",
            "ZADD scheduled:1 5 plain|ZREM scheduled plain|ZADD scheduled:2 5 plain", "HSET details plain 5:0:9:g",
            "ZADD followers 0 other_000000000000005:g2", "DEL followers|ZADD followers 0 other_000000000000005:g2");

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
    void soTheyDoAfterTwoDamages(int seed) {
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
            chosen.forEach(DoctorFixture::repair);
            assertThat(content()).as(of + ": content after " + chosen).isEqualTo(content);
            open = open();
        }
        List<Finding> left = this.doctor.examine("doctor").findings();
        assertThat(left).as(of).allMatch(RedisIntegrityCheckerRepairTests::isForPeople);
        assertThat(placesOfEach()).as(of + ": in one place").allSatisfy((id, places) -> assertThat(places).isOne());
        if (left.isEmpty()) {
            new Audit(connections, this.namespace, QUEUE).check();
        }
    }

    private List<Finding> open() {
        return this.doctor.examine("doctor")
            .findings()
            .stream()
            .filter((finding) -> !finding.commands().isEmpty())
            .toList();
    }

    /** Commands would destroy something, or nothing is needed. */
    private static boolean isForPeople(Finding finding) {
        boolean ofNext = finding.problem().contains("entry in next") || finding.problem().contains("in leased");
        boolean letter = finding.problem().startsWith("the dead letter cannot be read");
        return finding.commands().isEmpty() && (ofNext || letter || finding.kind() == Kind.NOT_THE_HEAD);
    }

    /** Messages, letters and what follows leases. */
    private Map<String, String> content() {
        Map<String, String> content = new TreeMap<>();
        try (RedisConnection connection = Connections.ofFixture(connections)) {
            for (String kind : List.of("messages", "letters", "next")) {
                connection.hashCommands().hGetAll(ScriptReplies.bytes(key(QUEUE, kind))).forEach((id, value) -> {
                    if (!kind.equals("next") || value[0] == 'S') {
                        content.put(kind + " " + ScriptReplies.raw(id), ScriptReplies.raw(value));
                    }
                });
            }
        }
        return content;
    }

    private Map<String, Integer> placesOfEach() {
        Map<String, Integer> places = new TreeMap<>();
        try (RedisConnection connection = Connections.ofFixture(connections)) {
            List<String> kinds = new ArrayList<>(List.of("scheduled", "leased", "followers"));
            for (int lane = 0; lane <= 9; lane++) {
                kinds.add("scheduled:" + lane);
            }
            for (String kind : kinds) {
                connection.zSetCommands()
                    .zRange(ScriptReplies.bytes(key(QUEUE, kind)), 0, -1)
                    .forEach((member) -> places.merge(ScriptReplies.raw(member).replaceFirst("^\\S* \\d*:", ""), 1,
                            Integer::sum));
            }
        }
        return places;
    }

    private void clear() {
        try (RedisConnection connection = Connections.ofFixture(connections)) {
            connection.keyCommands().del(new RedisKeys(this.namespace, QUEUE).all());
        }
    }

    /** The first follower has another lane than most messages. */
    @Test
    void whoComesToHeadAGroupGoesIntoTheLaneOfItsOwn() {
        send("a1", 4, null, "a", Duration.ofMinutes(1));
        send("a2", 9, null, "a", Duration.ofMinutes(2));
        damage("ZREM scheduled a1|HDEL messages a1|HDEL details a1");

        repairAll(new Random(1), "a lost head");

        try (RedisConnection connection = Connections.ofFixture(connections)) {
            assertThat(connection.zSetCommands().zRange(ScriptReplies.bytes(key(QUEUE, "scheduled:9")), 0, -1))
                .hasSize(1);
        }
    }

    /** In the log it is one line, and the second look finds what the first found. */
    @ParameterizedTest
    @ValueSource(strings = { "x\nWARN forged", "a\u00ffb", "$(reboot)`reboot`!!", "a b|c;d" })
    void namesThatNobodyCouldHaveGivenAreFoundShownAndRepaired(String id) {
        run(List.of("HSET", key(QUEUE, "messages"), id, "-foreign{\"payload\":1}"));

        List<Finding> findings = this.doctor.examine("doctor").findings();

        assertThat(findings).extracting(Finding::id).containsExactly(ScriptReplies.name(ScriptReplies.bytesOfRaw(id)));
        assertThat(findings.toString()).matches("\\p{Print}+");
        assertThat(findings.get(0).commands().toString()).doesNotContain("$", "`", "!", ";");
        findings.forEach(DoctorFixture::repair);
        assertThat(this.doctor.examine("doctor").isSound()).isTrue();
        assertThat(placesOfEach()).containsOnlyKeys(id);
    }

    @Test
    void whatWouldDestroyContentIsNotProposed() {
        fill();
        damage("HSET letters LETTER ?|HSET next plain S?more");
        List<Finding> findings = this.doctor.examine("doctor").findings();

        assertThat(findings).extracting(Finding::kind)
            .containsExactlyInAnyOrder(Kind.UNREADABLE_ENTRY, Kind.NOT_LEASED);
        assertThat(findings).allMatch((finding) -> finding.commands().isEmpty())
            .allMatch((finding) -> finding.remedy().contains("destroy"));
    }

}

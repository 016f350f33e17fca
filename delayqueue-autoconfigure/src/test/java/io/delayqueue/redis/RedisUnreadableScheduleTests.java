package io.delayqueue.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;

import io.delayqueue.QueueName;
import io.delayqueue.ScheduleChangeResult;
import io.delayqueue.ScheduleDefinition;
import io.delayqueue.SchedulePutResult;
import io.delayqueue.fixtures.ManualClock;
import io.delayqueue.fixtures.redis.ConnectionFactories;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.store.PinnedTimeRunner;
import io.delayqueue.store.envelope.EnvelopeCodec;
import io.delayqueue.store.schedule.LocalSchedules;
import io.delayqueue.store.schedule.OccurrenceEvents;
import io.delayqueue.store.schedule.ScheduleChanger;
import io.delayqueue.store.schedule.ScheduleState;
import io.delayqueue.store.schedule.ScheduleStep;
import io.delayqueue.store.schedule.StepOutcome;
import io.delayqueue.store.schedule.ScheduleSnapshot;
import io.delayqueue.store.schedule.ScheduleSnapshotPage;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests schedules whose states in Redis another program has damaged. */
@Tag("server")
class RedisUnreadableScheduleTests {

    private static final QueueName QUEUE = new QueueName("reports");

    private static final String DAMAGED = "damaged";

    private static final String MISSING = "missing";

    private static LettuceConnectionFactory connections;

    private final ManualClock clock = new ManualClock();

    private final RedisScriptExecutor redis = new RedisScriptExecutor(
            new PinnedTimeRunner(RedisScriptExecutor.runner(connections, Duration.ofSeconds(30)), this.clock),
            "unreadable-test");

    private final RedisScheduleStore store = new RedisScheduleStore(this.redis);

    private final LocalSchedules schedules = new LocalSchedules(this.store,
            new EnvelopeCodec(JsonMapper.builder().build()), LocalSchedules.MISFIRE_THRESHOLD, "app");

    private final ScheduleChanger changer = new ScheduleChanger(this.schedules, OccurrenceEvents.NONE);

    @BeforeAll
    static void connect() {
        connections = ConnectionFactories.lettuce(RedisServer.shared(RedisBinary.preferred()));
    }

    @AfterEach
    void removeAll() {
        try (RedisConnection connection = ConnectionFactories.ofFixture(connections)) {
            connection.keyCommands()
                .keys(bytes("unreadable-test:*"))
                .forEach((each) -> connection.keyCommands().del(each));
        }
        this.redis.close();
    }

    @AfterAll
    static void disconnect() {
        connections.destroy();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** One has a state that is no state, the other has only a time. */
    private void damage() {
        damage("nonsense", -5);
    }

    private void damage(String state, double offset) {
        try (RedisConnection connection = ConnectionFactories.ofFixture(connections)) {
            byte[] times = bytes("unreadable-test:{reports}:schedule-times");
            connection.hashCommands().hSet(bytes("unreadable-test:{reports}:schedules"), bytes(DAMAGED), bytes(state));
            connection.zSetCommands().zAdd(times, this.clock.now().toEpochMilli() + offset, bytes(DAMAGED));
            connection.zSetCommands().zAdd(times, this.clock.now().toEpochMilli() - 4, bytes(MISSING));
        }
    }

    private List<String> names() {
        return this.store.list(QUEUE, null, 10)
            .join()
            .schedules()
            .stream()
            .filter((schedule) -> schedule.state() == ScheduleState.UNREADABLE)
            .map(ScheduleSnapshot::name)
            .toList();
    }

    private SchedulePutResult put(String name) {
        ScheduleDefinition definition = ScheduleDefinition.fixedRate(name, Duration.ofHours(1)).build();
        return this.changer.put(QUEUE, definition, this.schedules.codec().write(definition, "{}")).join();
    }

    @Test
    void theyAreListedAndDueUntilANodePostponesThem() {
        damage();
        assertThat(names()).containsExactly(DAMAGED, MISSING);

        Map<String, ScheduleState> due = this.store.fire(QUEUE, "node", List.of()).join().due();
        assertThat(due).containsOnlyKeys(DAMAGED, MISSING).containsValue(ScheduleState.UNREADABLE);
        List<ScheduleStep> steps = due.entrySet()
            .stream()
            .map((each) -> ScheduleStep.postpone(each.getKey(), each.getValue()))
            .toList();

        assertThat(this.store.fire(QUEUE, "node", steps).join()).satisfies((firing) -> {
            assertThat(firing.outcomes()).containsOnly(StepOutcome.POSTPONED);
            assertThat(firing.due()).isEmpty();
            assertThat(firing.nextAt()).isEqualTo(this.clock.now().plus(Duration.ofMinutes(1)));
            assertThat(firing.firingNode()).isNull();
        });
    }

    @Test
    void aPostponementDoesNotDelayOneThatWasPutMeanwhile() {
        damage();
        put(DAMAGED);

        assertThat(this.store.fire(QUEUE, "node", List.of(ScheduleStep.postpone(DAMAGED, ScheduleState.UNREADABLE)))
            .join()
            .outcomes()).containsExactly(StepOutcome.STALE);
    }

    @Test
    void theyAreReplaced() {
        damage();

        assertThat(put(DAMAGED)).isEqualTo(SchedulePutResult.REPLACED);
        assertThat(put(MISSING)).isEqualTo(SchedulePutResult.REPLACED);

        assertThat(names()).isEmpty();
        assertThat(this.store.find(QUEUE, DAMAGED).join().state().generation())
            .isEqualTo(this.clock.now().toEpochMilli());
    }

    @Test
    void theyAreRemoved() {
        damage();

        assertThat(this.changer.remove(QUEUE, DAMAGED).join()).isEqualTo(ScheduleChangeResult.DONE);
        assertThat(this.changer.remove(QUEUE, MISSING).join()).isEqualTo(ScheduleChangeResult.DONE);
        assertThat(this.changer.remove(QUEUE, "other").join()).isEqualTo(ScheduleChangeResult.NOT_FOUND);

        assertThat(names()).isEmpty();
    }

    /** Each differs from the form in one field, or has one too few. */
    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = { "", "1:2:0:2:0:0:x: {}", "1:2:0:2:10000:0:a: {}", "1:2:0:2:0:0:a:", "1:2:0:2:0:0:a:{}",
            "0:2:0:2:0:0:a: {}", "01:2:0:2:0:0:a: {}", "1:02:0:2:0:0:a: {}", "1:2:00:2:0:0:a: {}",
            "1:1000000000000000:0:2:0:0:a: {}", "10000000000000000:2:0:2:0:0:a: {}", "1:2:0:2:0:0::a: {}",
            "1:2:0:2:0:a: {}", "1:2:0:2:0:0:a:app\t{}" })
    void aStateThatIsAlmostReadableIsPostponedAndReplacedAndRemoved(String state) {
        damage(state, -5);
        assertThat(names()).containsExactly(DAMAGED, MISSING);
        assertThat(this.store.find(QUEUE, DAMAGED).join().state()).isEqualTo(ScheduleState.UNREADABLE);
        assertThat(this.store.fire(QUEUE, "node", List.of()).join().due()).containsEntry(DAMAGED,
                ScheduleState.UNREADABLE);

        assertThat(this.store.fire(QUEUE, "node", List.of(ScheduleStep.postpone(DAMAGED, ScheduleState.UNREADABLE)))
            .join()).satisfies((firing) -> {
                assertThat(firing.outcomes()).containsExactly(StepOutcome.POSTPONED);
                assertThat(firing.due()).containsOnlyKeys(MISSING);
            });

        assertThat(put(DAMAGED)).isEqualTo(SchedulePutResult.REPLACED);
        damage(state, -5);
        assertThat(this.changer.remove(QUEUE, DAMAGED).join()).isEqualTo(ScheduleChangeResult.DONE);
        assertThat(names()).containsExactly(MISSING);
    }

    @ParameterizedTest
    @ValueSource(doubles = { -5.5, -1e300, Double.NEGATIVE_INFINITY, Double.POSITIVE_INFINITY })
    void aTimeThatIsNoTimeIsListedAndDelaysNoOther(double offset) {
        damage("nonsense", offset);
        put("other");

        ScheduleSnapshotPage first = this.store.list(QUEUE, null, 1).join();
        assertThat(first.next()).isNotNull();
        ScheduleSnapshotPage rest = this.store.list(QUEUE, first.next(), 10).join();

        assertThat(rest.next()).isNull();
        assertThat(List.of(first, rest)).flatExtracting(ScheduleSnapshotPage::schedules)
            .extracting(ScheduleSnapshot::name)
            .containsExactlyInAnyOrder(DAMAGED, MISSING, "other");
        assertThat(this.store.fire(QUEUE, "node", List.of()).join()).satisfies((firing) -> {
            assertThat(firing.nextAt()).isBefore(firing.now());
            assertThat(firing.due()).containsKey(MISSING);
        });
    }

    /** Zero, which stands for no time in an answer. */
    @Test
    void aTimeOfZeroIsATimeLongPast() {
        damage("nonsense", -this.clock.now().toEpochMilli());

        assertThat(this.store.fire(QUEUE, "node", List.of()).join().nextAt()).isEqualTo(Instant.ofEpochMilli(1));
    }

}

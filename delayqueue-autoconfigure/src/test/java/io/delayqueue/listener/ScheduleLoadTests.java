package io.delayqueue.listener;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;

import io.delayqueue.QueueName;
import io.delayqueue.ScheduleDefinition;
import io.delayqueue.fixtures.redis.ConnectionFactories;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.listener.poll.HandlerExecution;
import io.delayqueue.listener.poll.LoopTimer;
import io.delayqueue.redis.RedisScheduleStore;
import io.delayqueue.redis.RedisScriptExecutor;
import io.delayqueue.redis.wakeup.RedisWakeUps;
import io.delayqueue.redis.wakeup.WakeUpMode;
import io.delayqueue.store.MessageEventRecorderFactory;
import io.delayqueue.store.envelope.EnvelopeCodec;
import io.delayqueue.store.schedule.DeclarationResult;
import io.delayqueue.store.schedule.FireResult;
import io.delayqueue.store.schedule.LocalSchedules;
import io.delayqueue.store.schedule.ScheduleChange;
import io.delayqueue.store.schedule.ScheduleCursor;
import io.delayqueue.store.schedule.ScheduleState;
import io.delayqueue.store.schedule.ScheduleStep;
import io.delayqueue.store.schedule.ScheduleStore;
import io.delayqueue.store.schedule.StepOutcome;
import io.delayqueue.store.schedule.ScheduleSnapshot;
import io.delayqueue.store.schedule.ScheduleSnapshotPage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Measures what 100,000 schedules in a queue cost while none is due, and how late they
 * are sent when their times are spread over an hour.
 * <p>
 * {@code -Ddq.schedules.count} sets how many, {@code -Ddq.schedules.seconds} how long.
 */
@Tag("faults")
@Tag("server")
@Timeout(value = 30, unit = TimeUnit.MINUTES)
class ScheduleLoadTests {

    private static final QueueName QUEUE = new QueueName("load");

    private static final int COUNT = Integer.getInteger("dq.schedules.count", 100_000);

    private static final Duration TIME = Duration.ofSeconds(Long.getLong("dq.schedules.seconds", 60));

    private static final EnvelopeCodec CODEC = new EnvelopeCodec(JsonMapper.builder().build());

    private static final int CHUNK = 1_000;

    private final LoopTimer timer = HandlerExecution.DEFAULT.timers().get();

    private RedisServer server;

    private LettuceConnectionFactory connections;

    private RedisScriptExecutor redis;

    private RedisWakeUps wakeUps;

    private CountingStore store;

    private LocalSchedules schedules;

    @BeforeEach
    void connect() {
        this.server = RedisServer.start(RedisBinary.preferred());
        this.connections = ConnectionFactories.lettuce(this.server);
        this.redis = new RedisScriptExecutor(RedisScriptExecutor.runner(this.connections, Duration.ofSeconds(30)),
                "load-test");
        this.wakeUps = new RedisWakeUps(this.connections, this.redis, WakeUpMode.CHANNEL);
        this.wakeUps.start();
        this.store = new CountingStore(new RedisScheduleStore(this.redis));
        this.schedules = new LocalSchedules(this.store, CODEC, LocalSchedules.MISFIRE_THRESHOLD, "load");
    }

    @AfterEach
    void disconnect() {
        this.wakeUps.stop();
        this.wakeUps.close();
        this.timer.close();
        this.redis.close();
        this.connections.destroy();
        this.server.close();
    }

    @Test
    void schedulesThatAreNotDueCostNoCalls() {
        put((number) -> "%d %d 0 29 2 *".formatted(number % 60, number / 60 % 60));

        fire(0);

        int minutes = (int) TIME.plusSeconds(59).toMinutes();
        System.out.printf("%d schedules, none due: %d calls in %s%n", COUNT, this.store.calls.get(), TIME);
        assertThat(this.store.calls.get()).isBetween(1, 2 + 3 * minutes);
    }

    @Test
    void eachScheduleOfAnHourIsSentOnceAndNotEarly() {
        put((number) -> "%d %d * * * *".formatted(number % 60, number / 60 % 60));

        fire(COUNT * TIME.toSeconds() / 3_600);

        List<Long> late = this.store.lateness.stream().sorted().toList();
        System.out.printf(
                "%d of %d schedules sent in %s by %d calls: late by %d ms (median), %d ms (p99), %d ms (most)%n",
                late.size(), COUNT, TIME, this.store.calls.get(), late.get(late.size() / 2),
                late.get(late.size() * 99 / 100), late.get(late.size() - 1));
        assertThat(late.get(0)).isNotNegative();
        assertThat(new HashSet<>(this.store.sent)).hasSameSizeAs(this.store.sent);
    }

    private void put(IntFunction<String> cron) {
        for (int from = 0; from < COUNT; from += CHUNK) {
            List<CompletableFuture<Boolean>> answers = new ArrayList<>();
            for (int i = from; i < Math.min(COUNT, from + CHUNK); i++) {
                answers.add(this.store.change(QUEUE, change(ScheduleDefinition.cron("s" + i, cron.apply(i)).build())));
            }
            assertThat(answers).allMatch(CompletableFuture::join);
        }
    }

    private ScheduleChange change(ScheduleDefinition definition) {
        Instant now = Instant.now();
        long next = definition.nextAfter(now).orElseThrow().toEpochMilli();
        return new ScheduleChange(definition.name(), null, new ScheduleState(now.toEpochMilli(), next, 0, next, 0, 0,
                false, "", this.schedules.codec().write(definition, "{}")), null, null);
    }

    /**
     * Fires for some time, and until that many occurrences are sent, from the first call
     * on.
     */
    private void fire(long occurrences) {
        ScheduleFiring firing = new ScheduleFiring(this.schedules, this.wakeUps, this.timer, Runnable::run,
                Duration.ofSeconds(5), MessageEventRecorderFactory.NONE);
        firing.add(QUEUE);
        // Real time: Redis' clock decides which occurrences are due.
        LockSupport.parkNanos(TIME.toNanos());
        await().atMost(Duration.ofMinutes(4)).until(() -> this.store.lateness.size() >= occurrences);
        firing.close();
    }

    /** Counts calls and measures occurrences by Redis' clock. */
    private static final class CountingStore implements ScheduleStore {

        private final AtomicInteger calls = new AtomicInteger();

        private final AtomicLong start = new AtomicLong();

        private final List<Long> lateness = Collections.synchronizedList(new ArrayList<>());

        private final List<String> sent = Collections.synchronizedList(new ArrayList<>());

        private final ScheduleStore store;

        CountingStore(ScheduleStore store) {
            this.store = store;
        }

        @Override
        public CompletableFuture<FireResult> fire(QueueName queue, @Nullable String node, List<ScheduleStep> steps) {
            this.calls.incrementAndGet();
            return this.store.fire(queue, node, steps).thenApply((firing) -> {
                this.start.compareAndSet(0, firing.now().toEpochMilli());
                for (int i = 0; i < steps.size(); i++) {
                    if (firing.outcomes().get(i).equals(StepOutcome.SENT)) {
                        this.sent.add(steps.get(i).name() + "@" + steps.get(i).next());
                        measure(firing.now().toEpochMilli(), steps.get(i).next());
                    }
                }
                return firing;
            });
        }

        /** Leaves out what was due before the first call. */
        private void measure(long now, long nominal) {
            if (nominal > this.start.get()) {
                this.lateness.add(now - nominal);
            }
        }

        @Override
        public CompletableFuture<Boolean> resign(QueueName queue, String node) {
            return this.store.resign(queue, node);
        }

        @Override
        public CompletableFuture<Boolean> change(QueueName queue, ScheduleChange change) {
            return this.store.change(queue, change);
        }

        @Override
        public CompletableFuture<DeclarationResult> declare(QueueName queue, String owner, boolean removes,
                Map<String, String> fingerprints) {
            this.calls.incrementAndGet();
            return this.store.declare(queue, owner, removes, fingerprints);
        }

        @Override
        public CompletableFuture<ScheduleSnapshot> find(QueueName queue, String name) {
            return this.store.find(queue, name);
        }

        @Override
        public CompletableFuture<ScheduleSnapshotPage> list(QueueName queue, @Nullable ScheduleCursor after,
                int limit) {
            return this.store.list(queue, after, limit);
        }

    }

}

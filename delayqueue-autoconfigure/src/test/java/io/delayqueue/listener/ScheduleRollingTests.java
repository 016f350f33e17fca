package io.delayqueue.listener;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.MisfirePolicy;
import io.delayqueue.QueueName;
import io.delayqueue.ScheduleDefinition;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.fixtures.redis.ConnectionFactories;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.listener.poll.HandlerExecution;
import io.delayqueue.listener.poll.LoopTimer;
import io.delayqueue.redis.RedisMessageStore;
import io.delayqueue.redis.RedisScheduleStore;
import io.delayqueue.redis.RedisScriptExecutor;
import io.delayqueue.redis.wakeup.RedisWakeUps;
import io.delayqueue.redis.wakeup.WakeUpMode;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.MessageEventRecorderFactory;
import io.delayqueue.store.Partition;
import io.delayqueue.store.envelope.EnvelopeCodec;
import io.delayqueue.store.schedule.DeclarationResult;
import io.delayqueue.store.schedule.FireResult;
import io.delayqueue.store.schedule.LocalSchedules;
import io.delayqueue.store.schedule.OccurrenceIds;
import io.delayqueue.store.schedule.ScheduleChange;
import io.delayqueue.store.schedule.ScheduleCursor;
import io.delayqueue.store.schedule.ScheduleStep;
import io.delayqueue.store.schedule.ScheduleStore;
import io.delayqueue.store.schedule.ScheduleSnapshot;
import io.delayqueue.store.schedule.ScheduleSnapshotPage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Lets twenty nodes crash and restart while they roll between two definitions of a
 * schedule, and verifies that each occurrence is sent once. A crash cuts a node off
 * before a call, or before it knows the answer of one.
 * <p>
 * {@code -Ddq.schedules.seconds} sets how long, {@code -Ddq.schedules.rate} the interval
 * in milliseconds.
 */
@Tag("faults")
@Tag("server")
@Timeout(value = 1, unit = TimeUnit.HOURS)
class ScheduleRollingTests {

    private static final QueueName QUEUE = new QueueName("rolling");

    private static final String NAME = "pulse";

    private static final int NODES = 20;

    private static final Duration RATE = Duration.ofMillis(Long.getLong("dq.schedules.rate", 200));

    private static final Duration TIME = Duration.ofSeconds(Long.getLong("dq.schedules.seconds", 30));

    private static final EnvelopeCodec CODEC = new EnvelopeCodec(JsonMapper.builder().build());

    private final LettuceConnectionFactory connections = ConnectionFactories
        .lettuce(RedisServer.shared(RedisBinary.preferred()));

    private final RedisScriptExecutor redis = new RedisScriptExecutor(
            RedisScriptExecutor.runner(this.connections, Duration.ofSeconds(30)), "rolling-test");

    private final RedisScheduleStore store = new RedisScheduleStore(this.redis);

    private final RedisMessageStore messages = new RedisMessageStore(this.redis);

    private final RedisWakeUps wakeUps = new RedisWakeUps(this.connections, this.redis, WakeUpMode.CHANNEL);

    private final LoopTimer timer = HandlerExecution.DEFAULT.timers().get();

    private final Random random = new Random(Long.getLong("dq.seed", 42));

    private final List<Long> sent = Collections.synchronizedList(new ArrayList<>());

    @Test
    void eachOccurrenceIsSentOnce() throws InterruptedException {
        this.wakeUps.start();
        AtomicBoolean consuming = new AtomicBoolean(true);
        Thread consumer = new Thread(() -> consume(consuming), "consumer");
        consumer.start();
        List<Node> nodes = new ArrayList<>();
        try {
            for (int i = 0; i < NODES; i++) {
                nodes.add(new Node(0));
            }
            long end = System.nanoTime() + TIME.toNanos();
            while (System.nanoTime() - end < 0) {
                // Real time: Redis' clock decides which occurrences are due.
                LockSupport.parkNanos(Duration.ofMillis(20 + this.random.nextInt(100)).toNanos());
                int at = this.random.nextInt(NODES);
                nodes.get(at).end(this.random.nextInt(3));
                nodes.set(at, new Node(this.random.nextInt(2)));
            }
        }
        finally {
            nodes.forEach((node) -> node.end(0));
        }
        ScheduleSnapshot schedule = this.store.find(QUEUE, NAME).join();
        consuming.set(false);
        consumer.join();
        verify(schedule);
    }

    private void verify(ScheduleSnapshot schedule) {
        List<Long> sorted = this.sent.stream().sorted().toList();
        assertThat(sorted).doesNotHaveDuplicates();
        assertThat(schedule.skips().skips()).isEmpty();
        assertThat(schedule.state().sent()).isEqualTo(sorted.size());
        List<Long> expected = new ArrayList<>();
        for (long time = sorted.get(0); time < schedule.state().next(); time += RATE.toMillis()) {
            expected.add(time);
        }
        assertThat(sorted).isEqualTo(expected);
        System.out.printf("%d occurrences, each sent once%n", sorted.size());
    }

    /** Takes all messages; the last round begins after the nodes have ended. */
    private void consume(AtomicBoolean consuming) {
        boolean last;
        List<ClaimedMessage> claimed;
        do {
            last = !consuming.get();
            claimed = this.messages
                .claim(Partition.first(QUEUE), new ClaimRequest(100, Duration.ofMinutes(5), ExpiryPolicy.DROP, null))
                .join()
                .messages();
            for (ClaimedMessage message : claimed) {
                this.sent.add(OccurrenceIds.of(message.lease().id(), Map.of()).nominalTime().toEpochMilli());
            }
            if (!claimed.isEmpty()) {
                this.messages.acknowledge(Partition.first(QUEUE), claimed.stream().map(ClaimedMessage::lease).toList())
                    .join();
            }
            // Real time: as above.
            LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
        }
        while (!last || !claimed.isEmpty());
    }

    @AfterEach
    void clear() {
        try (RedisConnection connection = ConnectionFactories.ofFixture(this.connections)) {
            connection.keyCommands()
                .keys("rolling-test:*".getBytes(StandardCharsets.UTF_8))
                .forEach((key) -> connection.keyCommands().del(key));
        }
        this.wakeUps.stop();
        this.wakeUps.close();
        this.timer.close();
        this.redis.close();
        this.connections.destroy();
    }

    /** Represents a process with one of the two definitions. */
    private final class Node implements ScheduleStore {

        private final ScheduleFiring firing;

        private volatile boolean cutOff;

        private volatile boolean losesAnswers;

        Node(int version) {
            LocalSchedules schedules = new LocalSchedules(this, CODEC, LocalSchedules.MISFIRE_THRESHOLD, "rolling");
            this.firing = new ScheduleFiring(schedules, ScheduleRollingTests.this.wakeUps,
                    ScheduleRollingTests.this.timer, Runnable::run, Duration.ofSeconds(1),
                    MessageEventRecorderFactory.NONE);
            schedules.declare(QUEUE,
                    ScheduleDefinition.fixedRate(NAME, RATE).misfire(MisfirePolicy.ALL).catchUpLimit(1_000).build(),
                    "{\"version\":%d}".formatted(version));
        }

        /** Stops in order, or is cut off before a call or before an answer. */
        void end(int how) {
            this.cutOff = how == 1;
            this.losesAnswers = how == 2;
            this.firing.close();
        }

        private <T> CompletableFuture<T> away() {
            return CompletableFuture.failedFuture(new StoreUnavailableException("Cut off", Effect.UNKNOWN, null));
        }

        private <T> CompletableFuture<T> called(Supplier<CompletableFuture<T>> call) {
            return this.cutOff ? away() : call.get()
                .thenCompose((answer) -> this.losesAnswers ? away() : CompletableFuture.completedFuture(answer));
        }

        @Override
        public CompletableFuture<FireResult> fire(QueueName queue, @Nullable String node, List<ScheduleStep> steps) {
            return called(() -> ScheduleRollingTests.this.store.fire(queue, node, steps));
        }

        @Override
        public CompletableFuture<Boolean> resign(QueueName queue, String node) {
            return called(() -> ScheduleRollingTests.this.store.resign(queue, node));
        }

        @Override
        public CompletableFuture<Boolean> change(QueueName queue, ScheduleChange change) {
            return called(() -> ScheduleRollingTests.this.store.change(queue, change));
        }

        @Override
        public CompletableFuture<DeclarationResult> declare(QueueName queue, String owner, boolean removes,
                Map<String, String> fingerprints) {
            return called(() -> ScheduleRollingTests.this.store.declare(queue, owner, removes, fingerprints));
        }

        @Override
        public CompletableFuture<ScheduleSnapshot> find(QueueName queue, String name) {
            return called(() -> ScheduleRollingTests.this.store.find(queue, name));
        }

        @Override
        public CompletableFuture<ScheduleSnapshotPage> list(QueueName queue, @Nullable ScheduleCursor after,
                int limit) {
            return called(() -> ScheduleRollingTests.this.store.list(queue, after, limit));
        }

    }

}

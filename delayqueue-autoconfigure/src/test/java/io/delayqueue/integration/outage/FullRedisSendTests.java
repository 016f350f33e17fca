package io.delayqueue.integration.outage;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;

import io.delayqueue.BatchSendException;
import io.delayqueue.CancelResult;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedMessage;
import io.delayqueue.OnDuplicate;
import io.delayqueue.QueueStatistics;
import io.delayqueue.ReceivedMessage;
import io.delayqueue.RescheduleResult;
import io.delayqueue.SendOutcome;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.fixtures.application.Applications;
import io.delayqueue.fixtures.application.OrderHandler.Order;
import io.delayqueue.fixtures.redis.EachRedisVersion;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * P1: a Redis whose memory is full refuses every kind of send, says so, and has nothing
 * of it, not even of one of many; it takes in again what there is room for once it is
 * drained.
 */
@Tag("server")
class FullRedisSendTests {

    private static final String FOUR = "delayqueue.queues.spread.partitions=4";

    private static final Duration FAR = Duration.ofHours(1);

    @RegisterExtension
    final Applications applications = new Applications();

    @EachRedisVersion
    void everySendIsRefusedAndNothingOfItIsThere(RedisBinary binary) {
        try (RedisServer redis = RedisServer.start(binary)) {
            DelayQueueOperations queue = this.applications.withoutHandler(redis, FOUR).queue();
            queue.send(message("orders", "leased").delay(Duration.ZERO).build());
            ReceivedMessage leased = queue.receive("orders", Applications.TIMEOUT).orElseThrow();
            queue.send(message("orders", "waits").build());
            queue.send(message("orders", "head").group("g").build());
            queue.send(message("spread", "first").build());
            // A window that has ended: it may be removed after the message is stored, not
            // before.
            redis.commands().zadd(this.applications.namespace() + ":{orders}:duplicates", 1, "old");
            redis.commands().configSet("maxmemory", "1");
            Map<String, String> before = contents(redis);

            for (DelayedMessage refused : refused()) {
                assertThatExceptionOfType(StoreRefusedException.class).as("%s", refused)
                    .isThrownBy(() -> queue.send(refused))
                    .withMessageContaining("OOM")
                    .withMessageContaining("nothing was changed")
                    .satisfies((ex) -> assertThat(ex.effect()).isEqualTo(Effect.NONE));
                assertThat(contents(redis)).as("after %s", refused).isEqualTo(before);
            }
            for (List<DelayedMessage> batch : refusedBatches()) {
                BatchSendException refusal = catchThrowableOfType(BatchSendException.class, () -> queue.sendAll(batch));
                assertThat(refusal.notStored()).hasSameSizeAs(batch);
                assertThat(refusal.effect()).isEqualTo(Effect.NONE);
                assertThat(contents(redis)).as("after %s", batch).isEqualTo(before);
            }

            // A replacement uses the memory of the replaced message.
            DelayedMessage replacement = message("orders", "waits").priority(7)
                .onDuplicate(OnDuplicate.REPLACE)
                .build();
            assertThat(queue.send(replacement).outcome()).isEqualTo(SendOutcome.REPLACED);
            assertThat(queue.find("orders", "waits").orElseThrow().priority()).isEqualTo(7);
            assertThat(leased.acknowledge()).isTrue();
            this.applications.close();
        }
    }

    private static List<DelayedMessage> refused() {
        List<DelayedMessage> messages = new ArrayList<>();
        for (String queue : List.of("orders", "spread", "empty")) {
            messages.add(DelayedMessage.builder(queue, new Order(1)).delay(FAR).build());
            messages.add(message(queue, "new").build());
            messages.add(message(queue, "new").priority(7).build());
            messages.add(message(queue, "new").timeToLive(FAR).build());
            messages.add(message(queue, "new").group("g").delay(FAR.multipliedBy(2)).build());
            messages.add(message(queue, "new").group("another").build());
            messages.add(message(queue, "new").duplicateWindow(FAR).build());
            messages.add(message(queue, "new").onDuplicate(OnDuplicate.REPLACE).build());
        }
        messages.add(message("orders", "leased").build());
        messages.add(message("orders", "leased").onDuplicate(OnDuplicate.AFTER_CURRENT).build());
        messages.add(message("orders", "leased").onDuplicate(OnDuplicate.REPLACE).build());
        return messages;
    }

    private static List<List<DelayedMessage>> refusedBatches() {
        List<List<DelayedMessage>> batches = new ArrayList<>();
        for (String queue : List.of("orders", "spread", "empty")) {
            batches.add(IntStream.range(0, 250).mapToObj((i) -> message(queue, "new-" + i).build()).toList());
            batches.add(IntStream.range(0, 250)
                .mapToObj((i) -> message(queue, "new-" + i).priority(i % 10).group("g-" + i % 3).build())
                .toList());
        }
        return batches;
    }

    @EachRedisVersion
    void groupsSuccessorsAndPartitionsGoOn(RedisBinary binary) {
        try (RedisServer redis = RedisServer.start(binary)) {
            DelayQueueOperations queue = this.applications.withoutHandler(redis, FOUR).queue();
            for (int i = 0; i < 4; i++) {
                queue.send(message("orders", "m" + i).group("g").delay(Duration.ofMillis(i)).build());
                queue.send(message("spread", "m" + i).delay(Duration.ZERO).build());
            }
            ReceivedMessage first = queue.receive("orders", Applications.TIMEOUT).orElseThrow();
            queue.send(message("orders", "m0").group("g").onDuplicate(OnDuplicate.AFTER_CURRENT).build());
            redis.commands().configSet("maxmemory", "1");

            // Its successor comes to the end of the group.
            assertThat(first.acknowledge()).isTrue();
            assertThat(queue.find("orders", "m0").orElseThrow().failures()).isZero();
            ReceivedMessage second = queue.receive("orders", Applications.TIMEOUT).orElseThrow();
            assertThat(second.id()).isEqualTo("m1");
            assertThat(second.retry(Duration.ZERO, "boom")).isTrue();
            ReceivedMessage again = queue.receive("orders", Applications.TIMEOUT).orElseThrow();
            assertThat(again.id()).isEqualTo("m1");
            assertThat(again.deadLetter("enough")).isTrue();
            assertThat(queue.cancel("orders", "m2")).isEqualTo(CancelResult.CANCELLED);
            assertThat(queue.reschedule("orders", "m0", Duration.ZERO)).isEqualTo(RescheduleResult.RESCHEDULED);
            for (String id : List.of("m3", "m0")) {
                ReceivedMessage next = queue.receive("orders", Applications.TIMEOUT).orElseThrow();
                assertThat(next.id()).isEqualTo(id);
                assertThat(next.acknowledge()).isTrue();
            }
            assertThat(queue.deadLetters("orders").redriveAll()).isEqualTo(1);
            assertThat(queue.receive("orders", Applications.TIMEOUT).orElseThrow().acknowledge()).isTrue();

            assertThat(queue.repartition("spread", 2)).isEqualTo(4);
            ReceivedMessage dying = queue.receive("spread", Applications.TIMEOUT).orElseThrow();
            assertThat(dying.deadLetter("enough")).isTrue();
            for (int i = 0; i < 3; i++) {
                assertThat(queue.receive("spread", Applications.TIMEOUT).orElseThrow().acknowledge()).isTrue();
            }
            // There a redrive is a send.
            assertThatExceptionOfType(StoreRefusedException.class)
                .isThrownBy(() -> queue.deadLetters("spread").redriveAll())
                .withMessageContaining("OOM");
            assertThat(queue.deadLetters("spread").purgeAll()).isEqualTo(1);
            assertThat(this.applications.keys(redis)).allMatch((key) -> key.endsWith(":partitions"));
            this.applications.close();
        }
    }

    @EachRedisVersion
    void sendsAreRejectedWhileFullAndAcceptedOnceDrained(RedisBinary binary) {
        try (RedisServer redis = RedisServer.start(binary)) {
            DelayQueueOperations queue = this.applications.withoutHandler(redis, FOUR).queue();
            queue.send(message("spread", "first").delay(Duration.ZERO).build());
            Set<String> expected = ConcurrentHashMap.newKeySet();
            expected.add("first");
            redis.commands().configSet("maxmemory", Long.toString(used(redis) + 400_000));

            fill(queue, "a", expected);
            assertThat(expected).hasSizeGreaterThan(20);
            assertThat(queue.statistics("spread")).extracting(QueueStatistics::scheduled)
                .isEqualTo((long) expected.size());
            Set<String> handled = drain(queue, expected.size());
            assertThat(handled).isEqualTo(expected);

            fill(queue, "b", expected);
            assertThat(expected.size()).isGreaterThan(handled.size() + 20);
            handled.addAll(drain(queue, expected.size() - handled.size()));
            assertThat(handled).isEqualTo(expected);
            Applications
                .await(() -> assertThat(this.applications.keys(redis)).allMatch((key) -> key.endsWith(":partitions")));
            this.applications.close();
        }
    }

    /** Sends batches until one is refused, and notes what is stored by the answers. */
    private static void fill(DelayQueueOperations queue, String prefix, Set<String> stored) {
        String content = "x".repeat(2_000);
        for (int batch = 0;; batch++) {
            List<DelayedMessage> messages = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                messages.add(DelayedMessage.builder("spread", new Large(content))
                    .id("%s-%d-%d".formatted(prefix, batch, i))
                    .priority(i % 10)
                    .build());
            }
            try {
                queue.sendAll(messages).forEach((result) -> stored.add(result.id()));
            }
            catch (BatchSendException ex) {
                assertThat(ex.unknown()).isEmpty();
                ex.stored().forEach((result) -> stored.add(result.id()));
                return;
            }
        }
    }

    /**
     * Takes messages, some of which were given back, and returns their ids. Those come
     * again after the others, so that none is out of attempts.
     */
    private static Set<String> drain(DelayQueueOperations queue, int count) {
        Set<String> handled = ConcurrentHashMap.newKeySet();
        for (int i = 0; i < 10; i++) {
            assertThat(queue.receive("spread", Applications.TIMEOUT).orElseThrow().retry(Duration.ofSeconds(2), "once"))
                .isTrue();
        }
        for (int i = 0; i < count; i++) {
            ReceivedMessage message = queue.receive("spread", Applications.TIMEOUT).orElseThrow();
            assertThat(message.extend(FAR)).isTrue();
            assertThat(message.acknowledge()).isTrue();
            handled.add(message.id());
        }
        return handled;
    }

    private static long used(RedisServer redis) {
        return redis.commands()
            .info("memory")
            .lines()
            .filter((line) -> line.startsWith("used_memory:"))
            .map((line) -> Long.parseLong(line.substring("used_memory:".length()).strip()))
            .findFirst()
            .orElseThrow();
    }

    /** All that is kept, but for hints that come and go by themselves. */
    private Map<String, String> contents(RedisServer redis) {
        Map<String, String> contents = new TreeMap<>();
        for (String key : this.applications.keys(redis)) {
            if (!key.endsWith(":wake")) {
                contents.put(key, new String(redis.commands().dump(key), StandardCharsets.ISO_8859_1));
            }
        }
        return contents;
    }

    private static DelayedMessage.Builder message(String queue, String id) {
        return DelayedMessage.builder(queue, new Order(1)).id(id).delay(FAR);
    }

    record Large(String content) {
    }

}

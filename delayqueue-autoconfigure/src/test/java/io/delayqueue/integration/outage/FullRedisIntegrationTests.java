package io.delayqueue.integration.outage;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

import io.delayqueue.CancelResult;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedMessage;
import io.delayqueue.QueueName;
import io.delayqueue.QueueStatistics;
import io.delayqueue.RedriveResult;
import io.delayqueue.RescheduleResult;
import io.delayqueue.ScheduleChangeResult;
import io.delayqueue.ScheduleDefinition;
import io.delayqueue.ScheduleOperations;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.fixtures.LogCount;
import io.delayqueue.fixtures.application.Application;
import io.delayqueue.fixtures.application.Applications;
import io.delayqueue.fixtures.application.OrderHandler.Order;
import io.delayqueue.fixtures.redis.EachRedisVersion;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.DeadLetterRequest;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.Lease;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PrimaryPollerBid;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A Redis whose memory is full refuses what is sent, and says so (P1); what it holds can
 * still be handled and removed, so that it need not stay full.
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("server")
class FullRedisIntegrationTests {

    private static final Partition ORDERS = Partition.first(new QueueName("orders"));

    private static final Duration LEASE = Duration.ofMinutes(1);

    private static final Duration FAR = Duration.ofHours(1);

    @RegisterExtension
    final Applications applications = new Applications();

    @EachRedisVersion
    void whatIsSentIsRefusedAndEveryOtherTransitionWorks(RedisBinary binary) {
        try (RedisServer redis = RedisServer.start(binary)) {
            Application application = this.applications.withoutHandler(redis);
            DelayQueueOperations queue = application.queue();
            MessageStore store = application.context().getBean(MessageStore.class);
            for (int i = 0; i < 8; i++) {
                queue.send(message(i).build());
            }
            queue.send(message(8).delay(FAR).priority(6).build());
            queue.send(message(9).delay(FAR).build());
            Lease dead = claim(store, 1, LEASE).get(0);
            assertThat(store.deadLetter(dead, new DeadLetterRequest("boom", true, Instant.EPOCH)).join()).isTrue();
            claim(store, 1, Duration.ofMillis(1));
            queue.send(DelayedMessage.builder("later", new Order(0)).id("later").delay(FAR).build());
            fill(redis);

            // Nothing is due there, and the claim alone must not need memory.
            assertLooksAndKeeps(store, Partition.first(new QueueName("later")));
            assertLooksAndKeeps(store, Partition.first(new QueueName("empty")));
            assertThat(queue.cancel("later", "later")).isEqualTo(CancelResult.CANCELLED);
            assertThatExceptionOfType(StoreRefusedException.class).isThrownBy(() -> queue.send(message(10).build()))
                .withMessageContaining("OOM")
                .withMessageContaining("nothing was changed");
            assertThatExceptionOfType(StoreRefusedException.class)
                .isThrownBy(() -> queue.send("orders", new Order(11), Duration.ZERO));
            assertThat(queue.find("orders", "order:10")).isEmpty();
            assertThat(queue.statistics("orders").scheduled() + queue.statistics("orders").leased()).isEqualTo(9);

            assertThat(queue.deadLetters("orders").redrive(dead.deadLetterId())).isEqualTo(RedriveResult.REDRIVEN);
            List<ClaimedMessage> claimed = new ArrayList<>();
            // The redriven one may be due a moment later than the others.
            Applications.await(() -> {
                claimed.addAll(store.claim(ORDERS, new ClaimRequest(100, LEASE, ExpiryPolicy.DROP)).join().messages());
                assertThat(claimed).hasSize(8);
            });
            assertThat(claimed).filteredOn(ClaimedMessage::redelivered).hasSize(1);
            for (ClaimedMessage message : claimed) {
                if (message.redelivered()) {
                    assertThat(store.start(message.lease()).join()).isTrue();
                }
            }
            List<Lease> leases = claimed.stream().map(ClaimedMessage::lease).toList();
            assertThat(store.extend(ORDERS, leases, FAR).join()).doesNotContain(false);
            assertThat(store.retry(leases.get(0), FAR, "boom").join()).isTrue();
            assertThat(store.release(ORDERS, leases.subList(1, 3), FAR).join()).doesNotContain(false);
            assertThat(store.deadLetter(leases.get(3), new DeadLetterRequest("boom", true, Instant.EPOCH)).join())
                .isTrue();
            assertThat(queue.cancel("orders", leases.get(4).id())).isEqualTo(CancelResult.LEASED);
            assertThat(store.retry(leases.get(4), FAR, "boom").join()).isTrue();
            assertThat(store.acknowledge(ORDERS, leases.subList(5, 8)).join()).doesNotContain(false);
            assertThat(queue.reschedule("orders", "order:8", FAR)).isEqualTo(RescheduleResult.RESCHEDULED);
            assertThat(queue.reschedule("orders", "order:9", Duration.ZERO)).isEqualTo(RescheduleResult.RESCHEDULED);
            for (int i = 0; i < 3; i++) {
                assertThat(queue.cancel("orders", leases.get(i).id())).isEqualTo(CancelResult.CANCELLED);
            }
            assertThat(queue.cancel("orders", "order:8")).isEqualTo(CancelResult.CANCELLED);
            assertThat(queue.cancel("orders", "order:9")).isEqualTo(CancelResult.CANCELLED);
            assertThat(queue.statistics("orders")).isEqualTo(new QueueStatistics("orders", 0, 0, 0, 1, null));
            assertThat(queue.deadLetters("orders").purgeAll()).isEqualTo(1);
            assertThat(this.applications.keys(redis)).isEmpty();
            this.applications.close();
        }
    }

    @EachRedisVersion
    void schedulesArePausedAndRemoved(RedisBinary binary) {
        try (RedisServer redis = RedisServer.start(binary)) {
            ScheduleOperations schedules = this.applications.withoutHandler(redis).queue().schedules("orders");
            schedules.put(ScheduleDefinition.cron("daily", "@daily").build());
            fill(redis);

            assertThat(schedules.pause("daily")).isEqualTo(ScheduleChangeResult.DONE);
            assertThat(schedules.resume("daily")).isEqualTo(ScheduleChangeResult.DONE);
            assertThat(schedules.remove("daily")).isEqualTo(ScheduleChangeResult.DONE);
            assertThat(schedules.find("daily")).isEmpty();
            this.applications.close();
        }
    }

    @EachRedisVersion
    void anApplicationStartsOnAFullRedisAndDrainsIt(RedisBinary binary) throws Exception {
        try (RedisServer redis = RedisServer.start(binary)) {
            Application sender = this.applications.withoutHandler(redis);
            for (int i = 0; i < 300; i++) {
                sender.queue().send(message(i).build());
            }
            fill(redis);

            Application worker = this.applications.withHandler(redis);
            for (int i = 0; i < 300; i++) {
                worker.handler().next();
            }
            this.applications.assertNoKeysLeft(redis);
            this.applications.close();
        }
    }

    /**
     * Or every worker would retry and warn of an outage for as long as the pause lasts.
     */
    @EachRedisVersion
    void aPausedQueueIsNoOutageOnAFullRedis(RedisBinary binary, CapturedOutput output) throws Exception {
        try (RedisServer redis = RedisServer.start(binary)) {
            Application worker = this.applications.withHandler(redis, "delayqueue.safety-poll=200ms");
            worker.queue().pause("orders");
            worker.queue().send(message(1).build());
            fill(redis);
            long claims = evaluations(redis);
            List<String> warnings = LogCount.lines(output, "WARN");

            Applications.await(() -> assertThat(evaluations(redis)).isGreaterThan(claims + 10));
            assertThat(LogCount.lines(output, "WARN")).isEqualTo(warnings);
            worker.queue().resume("orders");

            assertThat(worker.handler().next().number()).isEqualTo(1);
            Applications
                .await(() -> assertThat(this.applications.keys(redis)).allMatch((key) -> key.endsWith(":partitions")));
            this.applications.close();
        }
    }

    private static long evaluations(RedisServer redis) {
        return redis.commands()
            .info("commandstats")
            .lines()
            .filter((line) -> line.startsWith("cmdstat_evalsha:"))
            .mapToLong((line) -> Long.parseLong(line.replaceAll(".*:calls=(\\d+),.*", "$1")))
            .sum();
    }

    private static void assertLooksAndKeeps(MessageStore store, Partition queue) {
        PrimaryPollerBid bid = new PrimaryPollerBid("node", PrimaryPollerBid.Kind.ACQUIRE, 0, Duration.ofSeconds(6));
        assertThat(store.claim(queue, new ClaimRequest(10, LEASE, ExpiryPolicy.DROP)).join().messages()).isEmpty();
        ClaimResult claim = store.claim(queue, new ClaimRequest(10, LEASE, ExpiryPolicy.DROP, bid)).join();
        assertThat(claim.messages()).isEmpty();
        assertThat(claim.primaryPoller()).isTrue();
        assertThat(store.resign(queue, bid.node()).join()).isTrue();
    }

    private static void fill(RedisServer redis) {
        redis.commands().configSet("maxmemory", "1");
    }

    private static DelayedMessage.Builder message(int number) {
        return DelayedMessage.builder("orders", new Order(number)).id("order:" + number);
    }

    private static List<Lease> claim(MessageStore store, int limit, Duration lease) {
        List<Lease> leases = new ArrayList<>();
        Applications.await(() -> {
            store.claim(ORDERS, new ClaimRequest(limit, lease, ExpiryPolicy.DROP))
                .join()
                .messages()
                .forEach((message) -> leases.add(message.lease()));
            assertThat(leases).isNotEmpty();
        });
        return leases;
    }

}

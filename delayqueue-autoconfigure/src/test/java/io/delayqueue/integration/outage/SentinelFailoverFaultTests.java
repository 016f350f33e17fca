package io.delayqueue.integration.outage;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayedMessage;
import io.delayqueue.NotReplicatedException;
import io.delayqueue.fixtures.application.Application;
import io.delayqueue.fixtures.application.Applications;
import io.delayqueue.fixtures.application.OrderHandler.Order;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisSentinel;
import io.delayqueue.fixtures.redis.RedisServer;
import io.lettuce.core.KillArgs;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A master dies under load while its replica lags, and Sentinel promotes that: each
 * message whose send waited for replicas is stored (P1) and handled, never early (P2).
 * Losses of sends that do not wait, and messages handled twice, are printed.
 */
@Tag("faults")
@Timeout(value = 10, unit = TimeUnit.MINUTES)
@Tag("server")
class SentinelFailoverFaultTests {

    private static final Duration DELAY = Duration.ofMillis(500);

    private final RedisSentinel sentinel = RedisSentinel.start(RedisBinary.preferred());

    @RegisterExtension
    final Applications applications = new Applications();

    private final Map<Integer, AtomicInteger> handled = new ConcurrentHashMap<>();

    private final Set<Integer> early = ConcurrentHashMap.newKeySet();

    private final AtomicInteger next = new AtomicInteger();

    private final AtomicInteger unreplicated = new AtomicInteger();

    @AfterEach
    void stop() {
        this.applications.close();
        this.sentinel.close();
    }

    @Test
    void aPromotedReplicaThatLaggedHasAllThatWasWaitedFor() throws Exception {
        Application worker = start(Applications.HandlerConfiguration.class, "delayqueue.listener.lease=5s",
                "delayqueue.safety-poll=1s", "test.queues=careful,careless");
        worker.handler().does((order, delivery) -> {
            this.handled.computeIfAbsent(order.number(), (number) -> new AtomicInteger()).incrementAndGet();
            if (delivery.lateness().isNegative()) {
                this.early.add(order.number());
            }
        });
        Application careful = start(Applications.SenderConfiguration.class, "delayqueue.durability.wait-replicas=1",
                "delayqueue.durability.wait-timeout=500ms", "delayqueue.command-timeout=2s");
        Application careless = start(Applications.SenderConfiguration.class, "delayqueue.command-timeout=2s");
        AtomicBoolean goesOn = new AtomicBoolean(true);
        Set<Integer> waited = ConcurrentHashMap.newKeySet();
        Set<Integer> unwaited = ConcurrentHashMap.newKeySet();
        List<Thread> senders = List.of(new Thread(() -> send(goesOn, careful, "careful", waited)),
                new Thread(() -> send(goesOn, careful, "careful", waited)),
                new Thread(() -> send(goesOn, careless, "careless", unwaited)));
        try {
            senders.forEach(Thread::start);
            awaitMore(waited, 50);
            RedisServer master = this.sentinel.master();
            RedisServer replica = this.sentinel.replica();
            // The replica cannot reconnect, so it misses all further writes.
            master.commands()
                .dispatch(CommandType.ACL, new StatusOutput<>(StringCodec.UTF8),
                        new CommandArgs<>(StringCodec.UTF8).add("SETUSER").add("default").add("-psync").add("-sync"));
            master.commands().clientKill(KillArgs.Builder.typeSlave());
            Applications.awaitTrue("it is cut off",
                    () -> replica.commands().info("replication").contains("master_link_status:down"));
            awaitMore(unwaited, 50);
            master.kill();
            // The new master has no replica, so nothing waits for one with success.
            awaitMore(unwaited, 50);
        }
        finally {
            goesOn.set(false);
            for (Thread sender : senders) {
                sender.join();
            }
        }
        Applications.await(() -> assertThat(this.handled.keySet()).containsAll(waited));
        // Real time: leases of the old master end by Redis' clock, after 7 s at the
        // latest.
        Thread.sleep(7_000);
        Set<Integer> lost = new HashSet<>(unwaited);
        lost.removeAll(this.handled.keySet());
        assertThat(this.early).isEmpty();
        System.out.printf(
                "Sentinel failover with a replica that lagged: of %d sends that waited none was lost (%d told that they "
                        + "were not replicated), of %d that did not wait %d lost; %d handled more than once%n",
                waited.size(), this.unreplicated.get(), unwaited.size(), lost.size(),
                this.handled.values().stream().filter((times) -> times.get() > 1).count());
    }

    private Application start(Class<?> configuration, String... properties) {
        List<String> all = new ArrayList<>(List.of("spring.data.redis.sentinel.master=" + RedisSentinel.MASTER_NAME,
                "spring.data.redis.sentinel.nodes=" + String.join(",", this.sentinel.nodes())));
        all.addAll(List.of(properties));
        return this.applications.start(configuration, all.toArray(String[]::new));
    }

    private void send(AtomicBoolean goesOn, Application sender, String queue, Set<Integer> stored) {
        while (goesOn.get()) {
            int number = this.next.incrementAndGet();
            DelayedMessage message = DelayedMessage.builder(queue, new Order(number))
                .id(queue + "-" + number)
                .delay(DELAY)
                .build();
            try {
                sender.queue().send(message);
                stored.add(number);
            }
            catch (NotReplicatedException ex) {
                this.unreplicated.incrementAndGet();
            }
            catch (DelayQueueException ex) {
                // Not stored, or not known to be: no caller relies on it.
            }
        }
    }

    private static void awaitMore(Set<Integer> stored, int more) {
        int before = stored.size();
        Applications.awaitTrue("sends work", () -> stored.size() >= before + more);
    }

}

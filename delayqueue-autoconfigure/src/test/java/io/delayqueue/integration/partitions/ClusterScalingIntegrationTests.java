package io.delayqueue.integration.partitions;

import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

import io.delayqueue.DelayedMessage;
import io.delayqueue.fixtures.application.Application;
import io.delayqueue.fixtures.application.Applications;
import io.delayqueue.fixtures.application.ClusterLoad;
import io.delayqueue.fixtures.application.ClusterLoad.LoadHandler;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisCluster;
import io.delayqueue.fixtures.redis.RedisServer;
import io.lettuce.core.KillArgs;
import io.lettuce.core.cluster.SlotHash;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * P1 to P4 while a cluster grows by a master and shrinks again, under load: nothing is
 * lost, doubled or early, and workers are woken wherever the partitions are. The safety
 * poll is an hour away.
 */
@Tag("server")
@Tag("matrix")
class ClusterScalingIntegrationTests {

    private static final int PARTITIONS = 8;

    private static final Pattern SCRIPTS = Pattern
        .compile("cmdstat_evalsha:calls=(\\d+).*rejected_calls=(\\d+),failed_calls=(\\d+)");

    private final RedisCluster cluster = RedisCluster.start(RedisBinary.preferred(), 0, "notify-keyspace-events Kz");

    @RegisterExtension
    final Applications applications = new Applications();

    @AfterEach
    void stop() {
        this.applications.close();
        this.cluster.close();
    }

    @ParameterizedTest
    @ValueSource(strings = { "channel", "keyspace" })
    void aMasterIsAddedAndRemovedUnderLoadWithoutLoss(String wakeUp) throws Exception {
        String[] properties = { "spring.data.redis.cluster.nodes=" + String.join(",", this.cluster.nodes()),
                "delayqueue.queues." + ClusterLoad.QUEUE + ".partitions=" + PARTITIONS, "delayqueue.wakeup=" + wakeUp,
                Applications.NO_SAFETY_POLL };
        Application worker = this.applications.start(ClusterLoad.LoadConfiguration.class, properties);
        Application sender = this.applications.start(Applications.SenderConfiguration.class, properties);
        LoadHandler handler = worker.context().getBean(LoadHandler.class);
        try (ClusterLoad load = new ClusterLoad(sender.queue(), PARTITIONS)) {
            load.start();
            load.awaitProgress(20);
            RedisServer added = this.cluster.addMaster();
            moveHalfOfThePartitions(added);
            load.awaitProgress(20);
            awaitSubscription(wakeUp, added);
            load.awaitProgress(20);

            moveHalfOfThePartitions(this.cluster.masters().get(0));
            awaitLeft(load, added);
            this.cluster.removeMaster(added);
            load.awaitProgress(20);

            load.stop();
            load.awaitEmpty();
            load.assertNoneEarly(handler);
            assertThat(load.lost(handler)).isEmpty();
            assertThat(load.doubtful()).isEmpty();
            assertThat(load.doubled(handler)).isZero();
        }
        assertWoken(sender, handler);
    }

    private void moveHalfOfThePartitions(RedisServer to) {
        for (int partition = 0; partition < PARTITIONS; partition += 2) {
            this.cluster.moveSlot(SlotHash.getSlot(ClusterLoad.tag(partition)), to);
        }
    }

    /** A channel needs one node, whichever; keys need each that has some. */
    private void awaitSubscription(String wakeUp, RedisServer added) {
        if (wakeUp.equals("keyspace")) {
            Applications.await(() -> assertThat(added.commands().pubsubNumpat()).isEqualTo(PARTITIONS));
            return;
        }
        Applications.awaitTrue("a subscription on the new master", () -> {
            for (RedisServer master : this.cluster.masters()) {
                if (!master.commands().pubsubChannels().isEmpty()) {
                    master.commands().clientKill(KillArgs.Builder.typePubsub());
                }
            }
            return added.commands().pubsubChannels().size() == PARTITIONS;
        });
    }

    /**
     * Clients know by now that it has no slots, so no call is interrupted.
     */
    private void awaitLeft(ClusterLoad load, RedisServer added) {
        Applications.await(() -> {
            List<String> before = scripts(added);
            load.awaitProgress(10);
            assertThat(scripts(added)).isEqualTo(before);
        });
    }

    private static List<String> scripts(RedisServer server) {
        Matcher matcher = SCRIPTS.matcher(server.commands().info("commandstats"));
        assertThat(matcher.find()).isTrue();
        return IntStream.rangeClosed(1, 3).mapToObj(matcher::group).toList();
    }

    /** A message to every partition, one after the other, while all is quiet. */
    private static void assertWoken(Application sender, LoadHandler handler) {
        for (int number = 0; number < 4 * PARTITIONS; number++) {
            String id = "after-" + number;
            sender.queue()
                .send(DelayedMessage.builder(ClusterLoad.QUEUE, id).id(id).delay(Duration.ofMillis(50)).build());
            Applications.awaitTrue("a wake-up", () -> handler.handled().containsKey(id));
        }
    }

}

package io.delayqueue.integration.partitions;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.delayqueue.admin.DelayQueueIntegrityChecker;
import io.delayqueue.fixtures.application.Application;
import io.delayqueue.fixtures.application.Applications;
import io.delayqueue.fixtures.application.ClusterLoad;
import io.delayqueue.fixtures.application.ClusterLoad.LoadHandler;
import io.delayqueue.fixtures.application.ClusterLoad.Sent;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisCluster;
import io.delayqueue.fixtures.redis.RedisServer;
import io.lettuce.core.KillArgs;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import org.assertj.core.api.ListAssert;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * P1 to P3 when a master of a cluster is lost under load and the cluster chooses its
 * replica: replicated messages, and messages sent afterwards, are handled. Only
 * unreplicated messages are lost, as replication is asynchronous.
 */
@Tag("server")
@Tag("matrix")
class ClusterMasterLossIntegrationTests {

    private static final int PARTITIONS = 8;

    private final RedisCluster cluster = RedisCluster.start(RedisBinary.preferred(), 1);

    private final RedisServer master = this.cluster.masterOf(ClusterLoad.tag(0));

    private final RedisServer replica = this.cluster.replicas().get(this.cluster.masters().indexOf(this.master));

    private final Set<Integer> ofMaster = IntStream.range(0, PARTITIONS)
        .filter((partition) -> this.cluster.masterOf(ClusterLoad.tag(partition)).equals(this.master))
        .boxed()
        .collect(Collectors.toSet());

    @RegisterExtension
    final Applications applications = new Applications().examined();

    private LoadHandler handler;

    private DelayQueueIntegrityChecker checker;

    @AfterEach
    void stop() {
        this.applications.close();
        this.cluster.close();
    }

    /**
     * The default behaviour of the client must suffice: it notices a connection that
     * breaks.
     */
    @Test
    void whatAMasterHadReplicatedOutlivesItAndSendersAndListenersFollow() throws Exception {
        try (ClusterLoad load = start()) {
            load.awaitProgress(50);
            long mark = replicated();
            cutReplication();
            load.awaitProgress(25);

            this.master.kill();
            long gone = System.nanoTime();
            awaitPromotion();
            load.awaitProgress(25);

            assertThat(this.checker.checkKeys().isSound()).as("the dead one is not asked").isTrue();
            assertLostOnly(load, mark, gone).isNotEmpty();
        }
    }

    /**
     * No connection breaks then, so a client notices it only by refreshing the topology
     * periodically, without waiting for the master that hangs.
     */
    @Test
    void aMasterThatHangsIsLeftByClientsThatRefreshTheTopology() throws Exception {
        try (ClusterLoad load = start("spring.data.redis.lettuce.cluster.refresh.period=1s",
                "spring.data.redis.timeout=1s")) {
            load.awaitProgress(50);
            long mark = replicated();

            this.master.suspend();
            long gone = System.nanoTime();
            awaitPromotion();
            load.awaitProgress(25);
            this.master.resume();
            Applications.awaitTrue("it is a replica now", () -> role(this.master).contains("role:slave"));
            load.awaitProgress(25);

            assertLostOnly(load, mark, gone);
        }
    }

    private ClusterLoad start(String... properties) {
        List<String> all = new ArrayList<>(
                List.of("spring.data.redis.cluster.nodes=" + String.join(",", this.cluster.nodes()),
                        "delayqueue.queues." + ClusterLoad.QUEUE + ".partitions=" + PARTITIONS,
                        "delayqueue.listener.lease=5s", "delayqueue.safety-poll=1s", "delayqueue.command-timeout=2s"));
        all.addAll(List.of(properties));
        String[] asArray = all.toArray(String[]::new);
        Application worker = this.applications.start(ClusterLoad.LoadConfiguration.class, asArray);
        Application sender = this.applications.start(Applications.SenderConfiguration.class, asArray);
        this.checker = sender.context().getBean(DelayQueueIntegrityChecker.class);
        this.handler = worker.context().getBean(LoadHandler.class);
        ClusterLoad load = new ClusterLoad(sender.queue(), PARTITIONS);
        load.start();
        return load;
    }

    /**
     * Waits until the replica has all that was written.
     * @return a time before which nothing was acknowledged that the replica has not
     */
    private long replicated() {
        long mark = System.nanoTime();
        this.master.commands().set(ClusterLoad.tag(0) + ":mark", "");
        assertThat(this.master.commands().waitForReplication(1, Applications.TIMEOUT.toMillis())).isOne();
        return mark;
    }

    /** The replica misses all further writes. */
    private void cutReplication() {
        this.master.commands()
            .dispatch(CommandType.ACL, new StatusOutput<>(StringCodec.UTF8),
                    new CommandArgs<>(StringCodec.UTF8).add("SETUSER").add("default").add("-psync").add("-sync"));
        this.master.commands().clientKill(KillArgs.Builder.typeSlave());
        Applications.awaitTrue("it is cut off", () -> role(this.replica).contains("master_link_status:down"));
    }

    private void awaitPromotion() {
        Applications.awaitTrue("a new master", () -> role(this.replica).contains("role:master"));
    }

    private static String role(RedisServer server) {
        return server.commands().info("replication");
    }

    /**
     * Waits for the end.
     * @param mark before which what was acknowledged is safe
     * @param gone after which the old master acknowledged nothing
     * @return what was lost
     */
    private ListAssert<Sent> assertLostOnly(ClusterLoad load, long mark, long gone) throws Exception {
        load.stop();
        load.awaitEmpty();
        load.assertNoneEarly(this.handler);
        List<Sent> lost = load.lost(this.handler);
        System.out.printf("Of %d sent %d are lost and %d handled again%n", load.sent().size(), lost.size(),
                load.doubled(this.handler));
        return assertThat(lost).allSatisfy((each) -> {
            assertThat(this.ofMaster).contains(each.partition());
            assertThat(each.answered() - mark).isPositive();
            assertThat(each.begun() - gone).isNegative();
        });
    }

}

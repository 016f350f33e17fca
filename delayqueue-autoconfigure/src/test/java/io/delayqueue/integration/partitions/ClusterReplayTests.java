package io.delayqueue.integration.partitions;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.MessageLimits;
import io.delayqueue.OnDuplicate;
import io.delayqueue.QueueName;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.fixtures.application.Applications;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisCluster;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.redis.RedisUser;
import io.delayqueue.fixtures.redis.ReplyLossProxy;
import io.delayqueue.redis.RedisMessageStore;
import io.delayqueue.redis.RedisScriptExecutor;
import io.delayqueue.redis.script.LoadedScripts;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.PartitionTarget;
import io.lettuce.core.internal.HostAndPort;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.MappingSocketAddressResolver;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/** P1: what Redis refuses of a call that the client of a cluster has repeated. */
@Tag("server")
class ClusterReplayTests {

    private static final PartitionTarget ORDERS = PartitionTarget.first(new QueueName("orders"));

    @Test
    void aRejectedSecondRunIsNotReportedAsWithoutEffect() {
        try (RedisCluster cluster = RedisCluster.start(RedisBinary.preferred())) {
            Map<Integer, ReplyLossProxy> between = cluster.masters()
                .stream()
                .collect(Collectors.toMap(RedisServer::port, (master) -> new ReplyLossProxy(master.port())));
            ClientResources resources = ClientResources.builder()
                .socketAddressResolver(MappingSocketAddressResolver
                    .create((HostAndPort node) -> HostAndPort.of("127.0.0.1", between.get(node.getPort()).port())))
                .build();
            LettuceConnectionFactory factory = through(cluster, resources);
            RedisScriptExecutor redis = RedisScriptExecutor.to(factory, "dq", Duration.ofSeconds(30));
            RedisMessageStore store = new RedisMessageStore(redis);
            store.schedule(ORDERS, List.of(message("first"))).join();
            RedisServer master = cluster.masterOf("{orders}");
            between.get(master.port())
                .next(LoadedScripts.sha("send"), () -> master.commands().configSet("maxmemory", "1"));

            StoreRefusedException refused = refused(store, "second");
            assertThat(refused).hasMessageContaining("OOM").hasMessageContaining("may have taken effect");
            assertThat(refused.effect()).isEqualTo(Effect.UNKNOWN);
            assertThat(master.commands().hexists("dq:{orders}:messages", "second")).isTrue();
            // The client may be looking at the topology, on connections that it ends.
            Applications.await(() -> assertThat(refused(store, "third").effect()).isEqualTo(Effect.NONE));
            redis.close();
            factory.destroy();
            resources.shutdown(0, 0, TimeUnit.SECONDS).awaitUninterruptibly();
            between.values().forEach(ReplyLossProxy::close);
        }
    }

    private static LettuceConnectionFactory through(RedisCluster cluster, ClientResources resources) {
        RedisClusterConfiguration configuration = new RedisClusterConfiguration(cluster.nodes());
        if (RedisUser.isAsked()) {
            configuration.setUsername(RedisUser.NAME);
            configuration.setPassword(RedisUser.PASSWORD);
        }
        LettuceConnectionFactory factory = new LettuceConnectionFactory(configuration,
                LettuceClientConfiguration.builder().clientResources(resources).build());
        factory.afterPropertiesSet();
        factory.start();
        return factory;
    }

    private static StoreRefusedException refused(RedisMessageStore store, String id) {
        try {
            store.schedule(ORDERS, List.of(message(id))).join();
        }
        catch (CompletionException ex) {
            if (ex.getCause() instanceof StoreRefusedException refused) {
                return refused;
            }
            throw ex;
        }
        throw new AssertionError("It was not refused");
    }

    private static NewMessage message(String id) {
        return new NewMessage(id, false, DueTime.after(Duration.ofHours(1)), OnDuplicate.REPLACE,
                MessageLimits.NORMAL_PRIORITY, null, null, "{\"payload\":1}".getBytes(StandardCharsets.UTF_8));
    }

}

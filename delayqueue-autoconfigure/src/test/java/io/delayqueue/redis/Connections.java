package io.delayqueue.redis;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.delayqueue.testing.RedisCluster;
import io.delayqueue.testing.RedisSentinel;
import io.delayqueue.testing.RedisServer;
import io.delayqueue.testing.RedisUser;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Makes connection factories to servers, started and ready. */
public final class Connections {

    /** Of servers that tests connect to as another user; they end with the JVM. */
    private static final Map<RedisConnectionFactory, LettuceConnectionFactory> OF_FIXTURE = new ConcurrentHashMap<>();

    private Connections() {
    }

    public static LettuceConnectionFactory lettuce(RedisServer server) {
        return started(new LettuceConnectionFactory(at(server)));
    }

    public static LettuceConnectionFactory lettuce(RedisCluster cluster) {
        return started(new LettuceConnectionFactory(at(cluster)));
    }

    public static LettuceConnectionFactory lettuce(RedisSentinel sentinel) {
        RedisSentinelConfiguration configuration = new RedisSentinelConfiguration().master(RedisSentinel.MASTER_NAME);
        List<String> nodes = sentinel.nodes();
        nodes.forEach((node) -> {
            int colon = node.lastIndexOf(':');
            configuration.sentinel(node.substring(0, colon), Integer.parseInt(node.substring(colon + 1)));
        });
        authenticate(configuration);
        return started(new LettuceConnectionFactory(configuration));
    }

    public static JedisConnectionFactory jedis(RedisServer server) {
        JedisConnectionFactory factory = new JedisConnectionFactory(at(server));
        factory.afterPropertiesSet();
        factory.start();
        return factory;
    }

    public static JedisConnectionFactory jedis(RedisCluster cluster) {
        JedisConnectionFactory factory = new JedisConnectionFactory(at(cluster));
        factory.afterPropertiesSet();
        factory.start();
        return factory;
    }

    public static RedisStandaloneConfiguration at(RedisServer server) {
        RedisStandaloneConfiguration configuration = new RedisStandaloneConfiguration(server.host(), server.port());
        authenticate(configuration);
        return configuration;
    }

    public static RedisClusterConfiguration at(RedisCluster cluster) {
        RedisClusterConfiguration configuration = new RedisClusterConfiguration(cluster.nodes());
        authenticate(configuration);
        return configuration;
    }

    private static void authenticate(RedisConfiguration.WithAuthentication configuration) {
        if (RedisUser.isAsked()) {
            configuration.setUsername(RedisUser.NAME);
            configuration.setPassword(RedisUser.PASSWORD);
        }
    }

    /**
     * A connection of the default user, to look at what stores make, and to damage it.
     */
    public static RedisConnection ofFixture(RedisConnectionFactory factory) {
        return RedisUser.isAsked() ? OF_FIXTURE.computeIfAbsent(factory, Connections::ofDefaultUser).getConnection()
                : factory.getConnection();
    }

    private static LettuceConnectionFactory ofDefaultUser(RedisConnectionFactory factory) {
        if (factory instanceof JedisConnectionFactory jedis) {
            return started(new LettuceConnectionFactory(jedis.getHostName(), jedis.getPort()));
        }
        LettuceConnectionFactory lettuce = (LettuceConnectionFactory) factory;
        if (lettuce.getClusterConfiguration() != null) {
            RedisClusterConfiguration cluster = new RedisClusterConfiguration();
            cluster.setClusterNodes(lettuce.getClusterConfiguration().getClusterNodes());
            return started(new LettuceConnectionFactory(cluster));
        }
        if (lettuce.getSentinelConfiguration() != null) {
            RedisSentinelConfiguration sentinel = new RedisSentinelConfiguration().master(RedisSentinel.MASTER_NAME);
            lettuce.getSentinelConfiguration().getSentinels().forEach(sentinel::sentinel);
            return started(new LettuceConnectionFactory(sentinel));
        }
        return started(new LettuceConnectionFactory(lettuce.getHostName(), lettuce.getPort()));
    }

    public static LettuceConnectionFactory started(LettuceConnectionFactory factory) {
        factory.afterPropertiesSet();
        factory.start();
        return factory;
    }

}

package io.delayqueue.redis;

import java.util.List;

import io.delayqueue.testing.RedisCluster;
import io.delayqueue.testing.RedisSentinel;
import io.delayqueue.testing.RedisServer;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Makes connection factories to servers, started and ready. */
final class Connections {

    private Connections() {
    }

    static LettuceConnectionFactory lettuce(RedisServer server) {
        return started(new LettuceConnectionFactory(new RedisStandaloneConfiguration(server.host(), server.port())));
    }

    static LettuceConnectionFactory lettuce(RedisCluster cluster) {
        return started(new LettuceConnectionFactory(new RedisClusterConfiguration(cluster.nodes())));
    }

    static LettuceConnectionFactory lettuce(RedisSentinel sentinel) {
        RedisSentinelConfiguration configuration = new RedisSentinelConfiguration().master(RedisSentinel.MASTER_NAME);
        List<String> nodes = sentinel.nodes();
        nodes.forEach((node) -> {
            int colon = node.lastIndexOf(':');
            configuration.sentinel(node.substring(0, colon), Integer.parseInt(node.substring(colon + 1)));
        });
        return started(new LettuceConnectionFactory(configuration));
    }

    static JedisConnectionFactory jedis(RedisServer server) {
        JedisConnectionFactory factory = new JedisConnectionFactory(
                new RedisStandaloneConfiguration(server.host(), server.port()));
        factory.afterPropertiesSet();
        factory.start();
        return factory;
    }

    static JedisConnectionFactory jedis(RedisCluster cluster) {
        JedisConnectionFactory factory = new JedisConnectionFactory(new RedisClusterConfiguration(cluster.nodes()));
        factory.afterPropertiesSet();
        factory.start();
        return factory;
    }

    static LettuceConnectionFactory started(LettuceConnectionFactory factory) {
        factory.afterPropertiesSet();
        factory.start();
        return factory;
    }

}

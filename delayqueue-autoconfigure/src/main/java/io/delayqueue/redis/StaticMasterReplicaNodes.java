package io.delayqueue.redis;

import java.util.List;

import io.lettuce.core.RedisURI;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.DirectFieldAccessor;
import org.springframework.data.redis.connection.RedisPassword;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Finds the nodes of a connection factory that has a static list of a master and its
 * replicas, as {@code spring.data.redis.masterreplica.nodes} configures it. The client of
 * such a factory has no address, so each connection must name one.
 */
public final class StaticMasterReplicaNodes {

    private StaticMasterReplicaNodes() {
    }

    /** Returns the nodes in their order; empty if the factory has no such list. */
    public static List<RedisStandaloneConfiguration> of(LettuceConnectionFactory factory) {
        RedisStaticMasterReplicaConfiguration list = listOrNull(factory);
        return (list != null) ? list.getNodes() : List.of();
    }

    /**
     * Returns the addresses of the nodes, with the settings that the factory gives to its
     * own connections; empty if the factory has no such list.
     */
    public static List<RedisURI> addresses(LettuceConnectionFactory factory) {
        RedisStaticMasterReplicaConfiguration list = listOrNull(factory);
        return (list != null) ? list.getNodes().stream().map((node) -> address(node, list, factory)).toList()
                : List.of();
    }

    private static RedisURI address(RedisStandaloneConfiguration node, RedisStaticMasterReplicaConfiguration list,
            LettuceConnectionFactory factory) {
        LettuceClientConfiguration client = factory.getClientConfiguration();
        RedisURI.Builder address = RedisURI.Builder.redis(node.getHostName(), node.getPort())
            .withDatabase(factory.getDatabase())
            .withSsl(client.isUseSsl())
            .withVerifyPeer(client.getVerifyMode())
            .withStartTls(client.isStartTls())
            .withTimeout(client.getCommandTimeout());
        client.getClientName().ifPresent(address::withClientName);
        authenticate(address, list, client);
        return address.build();
    }

    private static void authenticate(RedisURI.Builder address, RedisStaticMasterReplicaConfiguration list,
            LettuceClientConfiguration client) {
        String user = list.getUsername();
        RedisPassword password = list.getPassword();
        if (user != null && !user.isBlank()) {
            address.withAuthentication(user, new String(password.toOptional().orElse(new char[0])));
        }
        else {
            password.toOptional().ifPresent(address::withPassword);
        }
        client.getRedisCredentialsProviderFactory()
            .map((credentials) -> credentials.createCredentialsProvider(list))
            .ifPresent(address::withAuthentication);
    }

    /** Reads a field, as Spring Data has no accessor for this configuration. */
    private static @Nullable RedisStaticMasterReplicaConfiguration listOrNull(LettuceConnectionFactory factory) {
        DirectFieldAccessor fields = new DirectFieldAccessor(factory);
        return (fields.isReadableProperty("configuration")
                && fields.getPropertyValue("configuration") instanceof RedisStaticMasterReplicaConfiguration list)
                        ? list : null;
    }

}

package io.delayqueue.autoconfigure;

import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Chooses the connection factory of the queue: the one that
 * {@code delayqueue.connection-factory} names, or else the only or primary one.
 */
final class ConnectionFactoryChoice {

    private ConnectionFactoryChoice() {
    }

    static RedisConnectionFactory among(ListableBeanFactory beans, @Nullable String name) {
        if (name != null) {
            Map<String, RedisConnectionFactory> all = beans.getBeansOfType(RedisConnectionFactory.class);
            RedisConnectionFactory named = all.get(name);
            if (named == null) {
                throw new ConnectionFactoryChoiceException(
                        "delayqueue.connection-factory is '%s', but there is no RedisConnectionFactory bean of that name"
                            .formatted(name),
                        List.copyOf(all.keySet()));
            }
            return named;
        }
        RedisConnectionFactory only = beans.getBeanProvider(RedisConnectionFactory.class).getIfUnique();
        if (only == null) {
            List<String> names = List.of(beans.getBeanNamesForType(RedisConnectionFactory.class));
            throw new ConnectionFactoryChoiceException(names.isEmpty() ? "There is no RedisConnectionFactory bean"
                    : "There are several RedisConnectionFactory beans and none is primary", names);
        }
        return only;
    }

}

package io.delayqueue.autoconfigure;

import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Chooses the connection factory of the delay queue: the one that
 * {@code delayqueue.connection-factory} names, or else the only or primary one.
 */
final class ConnectionFactorySelector {

    /** Follows the prefix of the properties. */
    private static final String PROPERTY = ".connection-factory";

    private ConnectionFactorySelector() {
    }

    /**
     * Returns the connection factory.
     * @param prefix the prefix of the properties, for the exception
     * @param name the value of the property; {@code null} if it is not set
     */
    static RedisConnectionFactory among(ListableBeanFactory beans, String prefix, @Nullable String name) {
        if (name != null) {
            return named(name, prefix + PROPERTY, beans);
        }
        RedisConnectionFactory only = beans.getBeanProvider(RedisConnectionFactory.class).getIfUnique();
        if (only == null) {
            List<String> names = namesIn(beans);
            throw new ConnectionFactorySelectionException(
                    names.isEmpty() ? "There is no RedisConnectionFactory bean"
                            : "There are several RedisConnectionFactory beans and none is primary",
                    prefix + PROPERTY, names);
        }
        return only;
    }

    /**
     * Gets only this bean, so that the other factories are not created early.
     */
    private static RedisConnectionFactory named(String name, String property, ListableBeanFactory beans) {
        if (!beans.containsBean(name) || !beans.isTypeMatch(name, RedisConnectionFactory.class)) {
            throw new ConnectionFactorySelectionException(
                    "%s is '%s', but there is no RedisConnectionFactory bean of that name".formatted(property, name),
                    property, namesIn(beans));
        }
        return beans.getBean(name, RedisConnectionFactory.class);
    }

    private static List<String> namesIn(ListableBeanFactory beans) {
        return List.of(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, RedisConnectionFactory.class));
    }

}

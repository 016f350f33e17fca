package io.delayqueue.sample.embedded;

import java.util.stream.Stream;

import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.type.AnnotatedTypeMetadata;

/** Holds if no property says where a Redis is. */
class NoRedisConfigured implements Condition {

    @Override
    public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
        Binder binder = Binder.get(context.getEnvironment());
        return Stream.of("url", "host", "port", "cluster.nodes", "sentinel.nodes", "masterreplica.nodes")
            .map((name) -> binder.bind("spring.data.redis." + name, Bindable.listOf(String.class)))
            .noneMatch((value) -> value.isBound());
    }

}

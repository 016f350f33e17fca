package io.delayqueue.autoconfigure;

import io.delayqueue.forward.ExpressionRoot;
import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.TypeReference;

/**
 * Registers the scripts of Redis and of the journal's tables for a native image, the type
 * that expressions of keys read, the method of PostgreSQL's driver that the journal
 * calls, and the field of Lettuce's connection factory that the library reads. Spring
 * itself registers listener methods and their payloads, since {@code @DelayedListener} is
 * a {@code @MessageMapping}, and the actuator endpoint names what it returns.
 */
final class DelayQueueRuntimeHints implements RuntimeHintsRegistrar {

    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
        hints.resources()
            .registerPattern("io/delayqueue/redis/*.lua")
            .registerPattern("io/delayqueue/journal/schema-*.sql");
        hints.reflection().registerType(ExpressionRoot.class, MemberCategory.INVOKE_PUBLIC_METHODS);
        hints.reflection()
            .registerTypeIfPresent(classLoader, "org.postgresql.PGStatement",
                    (type) -> type.withMethod("setPrepareThreshold", TypeReference.listOf(int.class),
                            ExecutableMode.INVOKE))
            .registerTypeIfPresent(classLoader,
                    "org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory",
                    (type) -> type.withField("configuration"));
    }

}

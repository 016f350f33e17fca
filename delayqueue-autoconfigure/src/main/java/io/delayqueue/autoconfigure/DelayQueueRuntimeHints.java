package io.delayqueue.autoconfigure;

import io.delayqueue.forward.ExpressionRoot;
import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/**
 * Registers the Lua scripts for a native image, and the type that expressions of keys
 * read. Spring itself registers listener methods and their payloads, since
 * {@code @DelayedListener} is a {@code @MessageMapping}, and the actuator endpoint names
 * what it returns.
 */
final class DelayQueueRuntimeHints implements RuntimeHintsRegistrar {

    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
        hints.resources().registerPattern("io/delayqueue/redis/*.lua");
        hints.reflection().registerType(ExpressionRoot.class, MemberCategory.INVOKE_PUBLIC_METHODS);
    }

}

package io.delayqueue.autoconfigure;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/**
 * Registers the Lua scripts for a native image. Spring itself registers listener methods
 * and their payloads, since {@code @DelayedListener} is a {@code @MessageMapping}, and
 * the actuator endpoint names what it returns.
 */
final class DelayQueueRuntimeHints implements RuntimeHintsRegistrar {

    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
        hints.resources().registerPattern("io/delayqueue/redis/*.lua");
    }

}

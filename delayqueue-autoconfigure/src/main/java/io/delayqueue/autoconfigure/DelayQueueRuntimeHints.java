package io.delayqueue.autoconfigure;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/**
 * What a native image must know: the scripts. Listener methods and their payloads are
 * registered by Spring itself, since {@code @DelayedListener} is a
 * {@code @MessageMapping}.
 */
final class DelayQueueRuntimeHints implements RuntimeHintsRegistrar {

    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
        hints.resources().registerPattern("io/delayqueue/redis/*.lua");
    }

}

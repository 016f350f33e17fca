package io.delayqueue.web.autoconfigure;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/** Registers the resources of the HTTP API and the dashboard for a native image. */
final class DelayQueueWebRuntimeHints {

    private DelayQueueWebRuntimeHints() {
    }

    /** Registers the description of the HTTP API. */
    static final class Api implements RuntimeHintsRegistrar {

        @Override
        public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
            hints.resources().registerPattern("io/delayqueue/web/api/openapi.json");
        }

    }

    /** Registers the files of the dashboard. */
    static final class Dashboard implements RuntimeHintsRegistrar {

        @Override
        public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
            hints.resources().registerPattern("io/delayqueue/web/dashboard/static/**");
        }

    }

}

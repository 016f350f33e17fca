package io.delayqueue.test.autoconfigure;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Holds the settings of tests in virtual time. Only Spring Boot constructs this record: a
 * later version may add components.
 *
 * @param startAt Virtual time at which each test begins, such as 2026-03-29T00:59:00Z. By
 * default the real time.
 * @param quietTimeout Real time that a call of the tester waits for handlers while none
 * of them ends.
 * @param joinClock Whether Clock beans follow virtual time.
 * @param namespace Namespace in Redis. By default each context has another one.
 * @param redisBinary Executable to start as embedded Redis. By default one from a jar on
 * the class path, or else redis-server on the PATH.
 */
@ConfigurationProperties("delayqueue.test")
public record DelayQueueTesterProperties(@Nullable Instant startAt, @DefaultValue("5s") Duration quietTimeout,
        @DefaultValue("false") boolean joinClock, @Nullable String namespace, @Nullable Path redisBinary) {

    /** Set from the annotation of a test. */
    static final String STORE = "delayqueue.test.store";

    public DelayQueueTesterProperties {
        if (quietTimeout.isNegative() || quietTimeout.isZero()) {
            throw new IllegalArgumentException(
                    "delayqueue.test.quiet-timeout must be more than zero, but was %s".formatted(quietTimeout));
        }
    }

}

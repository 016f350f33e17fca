/**
 * Wires the delay queue into a Spring Boot application: properties, auto-configurations,
 * failure analyzers and hints. Nobody uses this package; it uses all others. Start at
 * {@code DelayQueueAutoConfiguration}; handlers are wired by
 * {@code DelayQueueListenerAutoConfiguration}.
 * <p>
 * Every bean backs off when the application has one of its kind, or, where that would be
 * ambiguous, one of its name.
 */
@NullMarked
package io.delayqueue.autoconfigure;

import org.jspecify.annotations.NullMarked;

/**
 * Integrates the delay queue into a Spring Boot application: properties,
 * auto-configurations, failure analyzers and hints. This package uses all others, and no
 * other package uses it. Start at {@code DelayQueueAutoConfiguration}; listeners are
 * configured by {@code DelayQueueListenerAutoConfiguration}.
 * <p>
 * Every bean backs off if the application defines one of the same type or, where that
 * would be ambiguous, with the same name.
 */
@NullMarked
package io.delayqueue.autoconfigure;

import org.jspecify.annotations.NullMarked;

/**
 * Configures the HTTP API and the dashboard in a Spring Boot application: properties,
 * security filter chains, failure analyzers and hints. Start at
 * {@code DelayQueueWebAutoConfiguration}.
 */
@NullMarked
package io.delayqueue.web.autoconfigure;

import org.jspecify.annotations.NullMarked;

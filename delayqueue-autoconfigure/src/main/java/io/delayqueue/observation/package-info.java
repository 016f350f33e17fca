/**
 * Observes sends and handlers by Micrometer: timers and spans, and the trace context in
 * the headers of a message. {@link io.delayqueue.observation.DelayQueueObservation}
 * documents the names and tags; a bean of one of the two convention types replaces them.
 */
@NullMarked
package io.delayqueue.observation;

import org.jspecify.annotations.NullMarked;

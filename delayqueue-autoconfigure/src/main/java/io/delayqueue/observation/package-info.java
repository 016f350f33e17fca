/**
 * Observations of sends and of handlers, by Micrometer: timers and spans, and the context
 * of a trace in the headers of a message. The names and tags are in
 * {@link io.delayqueue.observation.DelayQueueObservation}; a bean of one of the two
 * convention types replaces them.
 */
@NullMarked
package io.delayqueue.observation;

import org.jspecify.annotations.NullMarked;

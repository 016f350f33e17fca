/**
 * The least that a delayed message takes: in Redis, with and without a lease; for a send
 * through a bare socket; and for its time by a bare timer.
 */
@NullMarked
package io.delayqueue.benchmarks.limit;

import org.jspecify.annotations.NullMarked;

/**
 * Measures time and allocations of the library's work without Redis: writing and reading
 * messages, and the iterations of a poll loop. Begin with
 * {@link io.delayqueue.benchmarks.jmh.Allocations}.
 */
@NullMarked
package io.delayqueue.benchmarks.jmh;

import org.jspecify.annotations.NullMarked;

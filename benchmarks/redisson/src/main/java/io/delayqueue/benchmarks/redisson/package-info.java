/** Redisson's RDelayedQueue and the blocking queue that it feeds. */
@NullMarked
package io.delayqueue.benchmarks.redisson;

import org.jspecify.annotations.NullMarked;

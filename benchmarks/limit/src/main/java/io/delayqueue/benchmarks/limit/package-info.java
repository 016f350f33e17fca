/** The least that Redis can do for a delayed message. */
@NullMarked
package io.delayqueue.benchmarks.limit;

import org.jspecify.annotations.NullMarked;

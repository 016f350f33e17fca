/** Rqueue, on the Spring Boot line that it needs. */
@NullMarked
package io.delayqueue.benchmarks.rqueue;

import org.jspecify.annotations.NullMarked;

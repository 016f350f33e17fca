/** DelayQueue as its users use it: starter, template, annotated method, JSON. */
@NullMarked
package io.delayqueue.benchmarks.delayqueue;

import org.jspecify.annotations.NullMarked;

/**
 * The processes of a measurement: Redis servers and contenders, and their resource usage.
 * {@link io.delayqueue.benchmarks.runner.process.Stage} is one of each.
 */
@NullMarked
package io.delayqueue.benchmarks.runner.process;

import org.jspecify.annotations.NullMarked;

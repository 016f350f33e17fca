/**
 * Starts Redis servers and contenders, and measures. Begin with
 * {@link io.delayqueue.benchmarks.runner.Main}. What is measured is in {@code measure},
 * what came out in {@code result}, and what is made of it in {@code report}.
 */
@NullMarked
package io.delayqueue.benchmarks.runner;

import org.jspecify.annotations.NullMarked;

/**
 * Starts Redis servers and contenders, and measures. Begin with
 * {@link io.delayqueue.benchmarks.runner.Main}. The measures are in {@code measure},
 * their results in {@code result}, and the pages in {@code report}.
 */
@NullMarked
package io.delayqueue.benchmarks.runner;

import org.jspecify.annotations.NullMarked;

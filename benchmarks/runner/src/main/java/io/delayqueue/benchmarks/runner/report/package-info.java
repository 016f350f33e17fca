/**
 * Makes tables and plots of results, and compares them with the goals. Begin with
 * {@link io.delayqueue.benchmarks.runner.report.Report}.
 */
@NullMarked
package io.delayqueue.benchmarks.runner.report;

import org.jspecify.annotations.NullMarked;

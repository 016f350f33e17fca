/**
 * What is made of results: tables, plots, and the goals, each met or not. Begin with
 * {@link io.delayqueue.benchmarks.runner.report.Report}.
 */
@NullMarked
package io.delayqueue.benchmarks.runner.report;

import org.jspecify.annotations.NullMarked;

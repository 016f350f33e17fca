/**
 * What is measured: a class for each measure, all of them in
 * {@link io.delayqueue.benchmarks.runner.measure.Measures}.
 */
@NullMarked
package io.delayqueue.benchmarks.runner.measure;

import org.jspecify.annotations.NullMarked;

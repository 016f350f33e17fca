/** Results of measurements, as stored in one file per measure. */
@NullMarked
package io.delayqueue.benchmarks.runner.result;

import org.jspecify.annotations.NullMarked;

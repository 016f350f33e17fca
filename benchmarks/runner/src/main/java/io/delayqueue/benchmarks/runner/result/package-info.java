/** What was measured, as it is kept in a file for each measure. */
@NullMarked
package io.delayqueue.benchmarks.runner.result;

import org.jspecify.annotations.NullMarked;

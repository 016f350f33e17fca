/** DelayQueue with a journal in a database. */
@NullMarked
package io.delayqueue.benchmarks.journal;

import org.jspecify.annotations.NullMarked;

/** db-scheduler as its users use it. */
@NullMarked
package io.delayqueue.benchmarks.dbscheduler;

import org.jspecify.annotations.NullMarked;

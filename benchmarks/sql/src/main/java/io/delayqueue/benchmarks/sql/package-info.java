/** The rows that a journal needs at least, and what contenders with a database share. */
@NullMarked
package io.delayqueue.benchmarks.sql;

import org.jspecify.annotations.NullMarked;

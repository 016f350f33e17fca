/**
 * Holds the least rows of a journal, and the code that contenders with a database share.
 */
@NullMarked
package io.delayqueue.benchmarks.sql;

import org.jspecify.annotations.NullMarked;

/** Compares conversions of the migration with real versions of other libraries. */
@NullMarked
package io.delayqueue.migrate.jdbc;

import org.jspecify.annotations.NullMarked;

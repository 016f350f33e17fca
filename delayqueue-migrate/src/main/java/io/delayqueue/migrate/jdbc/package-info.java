/**
 * The sources whose messages are in an SQL database. Read first:
 * {@link io.delayqueue.migrate.jdbc.JdbcSource}.
 */
@NullMarked
package io.delayqueue.migrate.jdbc;

import org.jspecify.annotations.NullMarked;

/**
 * The command line. Read first: {@link io.delayqueue.migrate.cli.MigrateCommand}.
 */
@NullMarked
package io.delayqueue.migrate.cli;

import org.jspecify.annotations.NullMarked;

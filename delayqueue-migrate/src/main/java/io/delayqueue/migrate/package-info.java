/**
 * The interfaces of the program that moves waiting messages from other libraries to
 * DelayQueue. Read first: {@link io.delayqueue.migrate.MigrationSource}.
 */
@NullMarked
package io.delayqueue.migrate;

import org.jspecify.annotations.NullMarked;

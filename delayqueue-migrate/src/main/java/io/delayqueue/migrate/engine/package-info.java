/**
 * The steps of a migration. Read first: {@link io.delayqueue.migrate.engine.Migration}.
 */
@NullMarked
package io.delayqueue.migrate.engine;

import org.jspecify.annotations.NullMarked;

/**
 * An example of a source that is not built in.
 */
@NullMarked
package io.delayqueue.migrate.example;

import org.jspecify.annotations.NullMarked;

/**
 * A Redis server that is started with the application if none is configured, so that it
 * can be tried without installing anything. Nothing here is needed in a real application.
 */
@NullMarked
package io.delayqueue.sample.embedded;

import org.jspecify.annotations.NullMarked;

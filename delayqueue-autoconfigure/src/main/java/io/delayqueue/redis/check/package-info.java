/**
 * Checks the server at the start, and the integrity of what it stores.
 */
@NullMarked
package io.delayqueue.redis.check;

import org.jspecify.annotations.NullMarked;

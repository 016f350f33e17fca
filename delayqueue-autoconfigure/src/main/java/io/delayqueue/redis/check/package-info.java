/** Checks the server at the start, and the integrity of the stored keys. */
@NullMarked
package io.delayqueue.redis.check;

import org.jspecify.annotations.NullMarked;

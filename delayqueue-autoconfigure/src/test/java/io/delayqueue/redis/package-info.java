/** Tests the storage of messages in Redis, on real servers. */
@NullMarked
package io.delayqueue.redis;

import org.jspecify.annotations.NullMarked;

/**
 * Claims and settles messages for HTTP consumers, with long polling. Start at
 * {@code LongPolling} for claims, and at {@code IdempotentLeaseSettler} for the rest.
 */
@NullMarked
package io.delayqueue.web.consume;

import org.jspecify.annotations.NullMarked;

/**
 * Inspects and repairs queues: overviews, listings, forecasts, integrity reports and the
 * history of messages, for operators and tools. Start at {@code DelayQueueInspector}.
 */
@NullMarked
package io.delayqueue.admin;

import org.jspecify.annotations.NullMarked;

/**
 * Configures the test kit in application contexts of tests. Start at
 * {@link io.delayqueue.test.autoconfigure.DelayQueueTest} and
 * {@link io.delayqueue.test.autoconfigure.AutoConfigureDelayQueueTester}.
 */
@NullMarked
package io.delayqueue.test.autoconfigure;

import org.jspecify.annotations.NullMarked;

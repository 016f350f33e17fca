/**
 * Tests applications in virtual time. Start at
 * {@link io.delayqueue.test.DelayQueueTester}; {@code VirtualTimeEngine} moves time from
 * stop to stop, and {@code QuietDetector} determines when all is quiet.
 */
@NullMarked
package io.delayqueue.test;

import org.jspecify.annotations.NullMarked;

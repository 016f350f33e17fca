/**
 * Tests of whole applications on real Redis servers: features that users rely on, and
 * failures. Start at {@code Applications}, which starts and closes the applications of a
 * test, and {@code OrderHandler}, the handler that most of them have.
 * <p>
 * Each test has a namespace of its own and ends by asserting which keys are left. Nothing
 * asserts that something was fast: machines stall.
 */
@NullMarked
package io.delayqueue.integration;

import org.jspecify.annotations.NullMarked;

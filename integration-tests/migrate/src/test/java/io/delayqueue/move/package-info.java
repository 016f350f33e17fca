/**
 * Tests with applications of other libraries.
 */
@NullMarked
package io.delayqueue.move;

import org.jspecify.annotations.NullMarked;

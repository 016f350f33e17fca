/**
 * Breaks the scripts, one guard at a time, and looks whether the tests notice.
 */
@NullMarked
package io.delayqueue.mutation;

import org.jspecify.annotations.NullMarked;

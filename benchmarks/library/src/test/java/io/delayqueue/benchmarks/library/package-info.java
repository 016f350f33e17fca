/**
 * Measurements of single operations of the library, with the fixtures of its tests; see
 * benchmarks/README.md.
 */
@NullMarked
package io.delayqueue.benchmarks.library;

import org.jspecify.annotations.NullMarked;

/**
 * A model of a queue, small enough to be walked through, and what is checked by it.
 * <p>
 * Start at {@code StoreModel}, which says what each operation does to one id.
 * {@code Explorer} walks through every interleaving of two workers and a sender by the
 * moves of {@code Moves}, and holds each to {@code Promises}; {@code Defect} names what
 * it must notice. {@code ModelConformanceTests} hold the stores to the model, and
 * {@code Linearization} holds what threads saw of them to it.
 */
@NullMarked
package io.delayqueue.model;

import org.jspecify.annotations.NullMarked;

/**
 * Grants access to the delay queue. All of it is inactive without the profile
 * {@code operations}, except {@link io.delayqueue.sample.operations.ShopSecurity}, which
 * permits the shop itself to all callers.
 */
@NullMarked
package io.delayqueue.sample.operations;

import org.jspecify.annotations.NullMarked;

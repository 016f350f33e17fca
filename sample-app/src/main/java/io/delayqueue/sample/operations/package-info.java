/**
 * Who may look into the delay queue and act on it. All of it sleeps without the profile
 * {@code operations}, except {@link io.delayqueue.sample.operations.ShopSecurity}, which
 * keeps the shop itself open to everybody.
 */
@NullMarked
package io.delayqueue.sample.operations;

import org.jspecify.annotations.NullMarked;

/**
 * Defines the contract that every store fulfils: {@code MessageStoreContract} collects
 * the cases.
 */
@NullMarked
package io.delayqueue.store.contract;

import org.jspecify.annotations.NullMarked;

/** Cases of claims: lanes, groups, expiry, wake-ups, pauses and partitions. */
@NullMarked
package io.delayqueue.store.contract.claim;

import org.jspecify.annotations.NullMarked;

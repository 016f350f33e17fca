/** Runs the contract of a store on each Redis version, client and topology. */
@NullMarked
package io.delayqueue.redis.contract;

import org.jspecify.annotations.NullMarked;

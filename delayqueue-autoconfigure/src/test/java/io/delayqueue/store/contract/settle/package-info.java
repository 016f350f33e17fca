/** Cases of settlements, and of dead letters. */
@NullMarked
package io.delayqueue.store.contract.settle;

import org.jspecify.annotations.NullMarked;

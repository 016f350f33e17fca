/** Cases of reads: find, list, overview and registries. */
@NullMarked
package io.delayqueue.store.contract.inspect;

import org.jspecify.annotations.NullMarked;

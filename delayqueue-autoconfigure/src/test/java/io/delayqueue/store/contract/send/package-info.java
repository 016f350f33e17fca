/** Cases of senders: send, cancel and reschedule. */
@NullMarked
package io.delayqueue.store.contract.send;

import org.jspecify.annotations.NullMarked;

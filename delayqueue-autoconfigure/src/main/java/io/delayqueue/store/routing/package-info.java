/**
 * Routes calls to the partitions of a queue, and caches how many it has. Start at
 * {@code PartitionRouter}.
 */
@NullMarked
package io.delayqueue.store.routing;

import org.jspecify.annotations.NullMarked;

/** Tests partitioned queues and Redis Cluster. */
@NullMarked
package io.delayqueue.integration.partitions;

import org.jspecify.annotations.NullMarked;

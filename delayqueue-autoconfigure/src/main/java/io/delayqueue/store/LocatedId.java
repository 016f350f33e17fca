package io.delayqueue.store;

import java.util.List;

import io.delayqueue.MessageState;
import io.delayqueue.admin.DeadLetterSummary;
import org.jspecify.annotations.Nullable;

/**
 * Holds the result of one step of a search of a partition for an id.
 *
 * @param state the state of the message; {@code null} if the partition does not hold it,
 * or this is not the first step
 * @param version the version of the {@link PartitionLayout} recorded in the partition
 * @param deadLetters its dead letters that this step found
 * @param nextCursor where the next step begins; {@code null} if this was the last one
 */
public record LocatedId(@Nullable MessageState state, int version, List<DeadLetterSummary> deadLetters,
        @Nullable String nextCursor) {
}

package io.delayqueue.store;

import java.time.Duration;
import java.util.List;

/**
 * Holds what a journal asks of a partition.
 *
 * @param journal the identity of the journal, without blanks
 * @param claim how long other nodes do not get the returned messages
 * @param keep how long the store remembers a message after its row was deleted
 * @param deleted messages whose rows were deleted
 */
public record EndedRequest(String journal, Duration claim, Duration keep, List<EndedMessage> deleted) {

    /** Maximum number of messages of one call. */
    public static final int LIMIT = 1000;

}

package io.delayqueue.journal;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * Holds the due time and the next check that are written to the row of an applied
 * request.
 *
 * @param revision its row
 * @param due the due time, in milliseconds since the epoch; {@code null} to keep that of
 * the row
 * @param nextCheck the delay until the sweep checks the message
 * @param notBefore when it does so at the earliest, in milliseconds of the database's
 * clock; 0 for no limit
 */
record AcceptedRowUpdate(long revision, @Nullable Long due, Duration nextCheck, long notBefore) {

    AcceptedRowUpdate(long revision, @Nullable Long due, Duration nextCheck) {
        this(revision, due, nextCheck, 0);
    }

}

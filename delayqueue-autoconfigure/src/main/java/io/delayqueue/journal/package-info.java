/**
 * Writes sends, reschedules and cancels to an SQL database, in the caller's transaction,
 * and applies them to the store after the commit. {@link io.delayqueue.journal.Journal}
 * is the entry, {@link io.delayqueue.journal.JournalTable} the SQL, and
 * {@link io.delayqueue.journal.JournalRelay} the way to the store.
 * <p>
 * Also records the transitions of messages, behind:
 * {@link io.delayqueue.journal.HistoryRecorder} observes the store, and
 * {@link io.delayqueue.journal.HistoryWriter} writes the rows. See
 * docs/internals/journal.md.
 */
@NullMarked
package io.delayqueue.journal;

import org.jspecify.annotations.NullMarked;

package io.delayqueue.journal;

import java.time.Duration;

/**
 * Holds how long transitions are kept, how many may be buffered, and whether this node
 * records causes and deletes old transitions.
 *
 * @param retention how long a transition is kept
 * @param causes whether the messages of exceptions are recorded
 * @param deletion whether this node may delete old transitions
 * @param buffer maximum number of transitions that wait to be written
 */
public record HistorySettings(Duration retention, boolean causes, boolean deletion, int buffer) {
}

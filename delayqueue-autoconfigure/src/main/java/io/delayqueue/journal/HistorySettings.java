package io.delayqueue.journal;

import java.time.Duration;

/**
 * Holds the settings of the history.
 *
 * @param retention how long a transition is kept
 * @param causes whether the messages of exceptions are recorded
 * @param deletion whether this node may delete old transitions
 * @param buffer maximum number of transitions that wait to be written
 */
public record HistorySettings(Duration retention, boolean causes, boolean deletion, int buffer) {
}

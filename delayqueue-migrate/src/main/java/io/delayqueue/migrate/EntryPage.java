package io.delayqueue.migrate;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Holds some entries of a queue.
 *
 * @param entries the entries; possibly none, although others follow
 * @param next where the next page begins; {@code null} if there is none
 */
public record EntryPage(List<SourceEntry> entries, @Nullable String next) {

    public EntryPage {
        entries = List.copyOf(entries);
    }

}

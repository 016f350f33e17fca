package io.delayqueue.memory;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.stream.Stream;

import io.delayqueue.store.DeadLetterCursor;
import org.jspecify.annotations.Nullable;

/** Holds the dead letters of one queue. Guarded as {@link MemoryQueue} is. */
final class MemoryDeadLetters {

    private final Map<String, MemoryDeadLetter> byId = new HashMap<>();

    private final NavigableSet<MemoryDeadLetter> byDeath = new TreeSet<>(MemoryDeadLetter.BY_DEATH);

    /** Adds a dead letter; replaces one of the same name. */
    void add(MemoryDeadLetter letter) {
        remove(letter.letterId());
        this.byId.put(letter.letterId(), letter);
        this.byDeath.add(letter);
    }

    @Nullable MemoryDeadLetter find(String letterId) {
        return this.byId.get(letterId);
    }

    /** Removes a dead letter; {@code false} if there is none of that name. */
    boolean remove(String letterId) {
        MemoryDeadLetter letter = this.byId.remove(letterId);
        return letter != null && this.byDeath.remove(letter);
    }

    /** Removes dead letters up to that time, the oldest first; returns how many. */
    int removeUpTo(long died, int limit) {
        List<MemoryDeadLetter> old = this.byDeath.stream()
            .takeWhile((letter) -> letter.died() <= died)
            .limit(limit)
            .toList();
        old.forEach((letter) -> remove(letter.letterId()));
        return old.size();
    }

    /** Returns the dead letters after the cursor, the latest first. */
    List<MemoryDeadLetter> page(@Nullable DeadLetterCursor cursor, int limit) {
        Stream<MemoryDeadLetter> page = this.byDeath.descendingSet().stream();
        if (cursor != null) {
            page = page.dropWhile((letter) -> letter.died() > cursor.diedMillis()
                    || (letter.died() == cursor.diedMillis() && letter.letterId().compareTo(cursor.letterId()) >= 0));
        }
        return page.limit(limit).toList();
    }

    int size() {
        return this.byId.size();
    }

}

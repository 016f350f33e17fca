package io.delayqueue.template;

import java.time.Instant;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Function;

import io.delayqueue.DeadLetter;
import io.delayqueue.DeadLetterBulkResult;
import io.delayqueue.DeadLetterFilter;
import io.delayqueue.DeadLetterPage;
import io.delayqueue.DelayQueueException;
import io.delayqueue.store.DeadLetterCursor;
import io.delayqueue.store.FailureEffects;
import org.jspecify.annotations.Nullable;

/**
 * Runs one step of a bulk operation: reads dead letters page by page and processes those
 * that match a filter. Used by one thread.
 */
final class DeadLetterScan {

    private static final int PAGE = 100;

    private final DeadLetterFilter filter;

    private final BiFunction<@Nullable String, Integer, DeadLetterPage> pages;

    private long examined;

    private long matched;

    private long changed;

    /**
     * Prepares a step.
     * @param pages reads a page of the given size after a cursor
     */
    DeadLetterScan(DeadLetterFilter filter, BiFunction<@Nullable String, Integer, DeadLetterPage> pages) {
        this.filter = filter;
        this.pages = pages;
    }

    /**
     * Examines at most {@code most} dead letters.
     * @param act processes those that match; returns how many it changed
     */
    DeadLetterBulkResult go(@Nullable String from, int most, Function<List<DeadLetter>, Long> act) {
        try {
            return scan(from, most, act);
        }
        catch (DelayQueueException ex) {
            throw (this.changed > 0) ? FailureEffects.partly(ex) : ex;
        }
    }

    private DeadLetterBulkResult scan(@Nullable String from, int most, Function<List<DeadLetter>, Long> act) {
        String cursor = start(from);
        while (true) {
            DeadLetterPage page = this.pages.apply(cursor, PAGE);
            List<DeadLetter> meant = page.deadLetters().stream().filter(this.filter::matches).toList();
            this.examined += page.deadLetters().size();
            this.matched += meant.size();
            this.changed += act.apply(meant);
            cursor = isBehind(page) ? null : page.nextCursor();
            if (cursor == null || this.examined >= most) {
                return new DeadLetterBulkResult(this.examined, this.matched, this.changed, cursor);
            }
        }
    }

    /** Skips dead letters that are too recent to match. */
    private @Nullable String start(@Nullable String from) {
        Instant before = this.filter.deadLetteredBefore();
        return (from == null && before != null) ? DeadLetterCursor.before(before) : from;
    }

    /** Returns whether all following dead letters are too old to match. */
    private boolean isBehind(DeadLetterPage page) {
        Instant from = this.filter.deadLetteredFrom();
        List<DeadLetter> letters = page.deadLetters();
        return from != null && !letters.isEmpty() && letters.get(letters.size() - 1).deadLetteredAt().isBefore(from);
    }

}

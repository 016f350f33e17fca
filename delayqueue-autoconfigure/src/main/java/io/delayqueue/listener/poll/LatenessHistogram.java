package io.delayqueue.listener.poll;

import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;

import io.delayqueue.store.LatenessClasses;
import org.jspecify.annotations.Nullable;

/**
 * Counts how late the handlers of a queue began. Counts never decrease, so the difference
 * of two readings yields the percentiles of the time between. A message costs two
 * additions. Thread-safe.
 */
public final class LatenessHistogram {

    /** Steps per octave, so that a bound exceeds a value by an eighth at most. */
    private static final int STEPS = 8;

    /** Octaves of microseconds, up to twelve days; longer values count as that. */
    private static final int OCTAVES = 40;

    /** Created on first use, as few are needed. */
    private final AtomicReferenceArray<@Nullable LongAdder> counts = new AtomicReferenceArray<>(OCTAVES * STEPS);

    /**
     * The counts by class, which do not follow from the steps: a class may end within
     * one.
     */
    private final LongAdder[] classes = Stream.generate(LongAdder::new)
        .limit(LatenessClasses.COUNT)
        .toArray(LongAdder[]::new);

    void add(long nanos) {
        this.classes[LatenessClasses.of(ceilMicros(nanos))].increment();
        int index = index(nanos);
        LongAdder count = this.counts.get(index);
        if (count == null) {
            this.counts.compareAndSet(index, null, new LongAdder());
            count = this.counts.get(index);
        }
        if (count != null) {
            count.increment();
        }
    }

    /** Returns the counts that are not zero, by their bounds in microseconds. */
    public SortedMap<Long, Long> byMicros() {
        SortedMap<Long, Long> found = new TreeMap<>();
        for (int i = 0; i < OCTAVES * STEPS; i++) {
            LongAdder count = this.counts.get(i);
            if (count != null) {
                found.merge(bound(i), count.sum(), Long::sum);
            }
        }
        return Collections.unmodifiableSortedMap(found);
    }

    /** Returns the counts by {@linkplain LatenessClasses class}. */
    public long[] byClass() {
        return Stream.of(this.classes).mapToLong(LongAdder::sum).toArray();
    }

    private static long ceilMicros(long nanos) {
        return nanos / 1_000 + ((nanos % 1_000 > 0) ? 1 : 0);
    }

    private static int index(long nanos) {
        long micros = Math.max(1, nanos / 1_000);
        int octave = Long.SIZE - 1 - Long.numberOfLeadingZeros(micros);
        long within = ((micros - (1L << octave)) * STEPS) >> octave;
        return (octave < OCTAVES) ? octave * STEPS + (int) within : OCTAVES * STEPS - 1;
    }

    /** Returns the exclusive bound of a step; the first octaves have coarser steps. */
    private static long bound(int index) {
        long octave = 1L << (index / STEPS);
        return octave + Math.max(1, (octave * (index % STEPS + 1) + STEPS - 1) / STEPS);
    }

}

package io.delayqueue.store.schedule;

import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

import io.delayqueue.ScheduleSkip;
import io.delayqueue.ScheduleStatus;
import io.delayqueue.SkipReason;

/**
 * Counts the occurrences of a schedule that were skipped, and keeps the last skips.
 * Immutable.
 *
 * @param totals the number for each reason that has occurred
 * @param skips the last skips, the latest first
 */
public record SkipLog(Map<SkipReason, Long> totals, List<ScheduleSkip> skips) {

    /** Contains no skips. */
    public static final SkipLog EMPTY = new SkipLog(Map.of(), List.of());

    public SkipLog {
        totals = Map.copyOf(totals);
        skips = List.copyOf(skips);
    }

    /**
     * Returns this log with one more skip. It extends the latest one if that has the same
     * reason, and no occurrence was sent in between.
     * @param last the nominal time of the last occurrence that was sent, ms
     */
    public SkipLog with(ScheduleSkip skip, long last) {
        Map<SkipReason, Long> totals = new EnumMap<>(SkipReason.class);
        totals.putAll(this.totals);
        totals.merge(skip.reason(), skip.count(), Long::sum);
        List<ScheduleSkip> skips = new ArrayList<>(this.skips);
        ScheduleSkip latest = skips.isEmpty() ? null : skips.get(0);
        if (latest != null && latest.reason() == skip.reason() && last < latest.first().toEpochMilli()) {
            skips.set(0, new ScheduleSkip(skip.reason(), latest.first(), skip.last(), latest.count() + skip.count()));
        }
        else {
            skips.add(0, skip);
        }
        return new SkipLog(totals, skips.subList(0, Math.min(skips.size(), ScheduleStatus.MAX_SKIPS)));
    }

    /**
     * Parses the stored form: {@code reason=total} for each reason, then
     * {@code reason,first,last,count} for each skip, separated by blanks. Leaves out what
     * it does not know.
     */
    public static SkipLog parse(String text) {
        Map<SkipReason, Long> totals = new EnumMap<>(SkipReason.class);
        List<ScheduleSkip> skips = new ArrayList<>();
        for (String entry : text.split(" ")) {
            String[] fields = entry.split("[=,]");
            try {
                SkipReason reason = SkipReason.valueOf(fields[0]);
                if (fields.length == 2) {
                    totals.put(reason, Long.valueOf(fields[1]));
                }
                else if (fields.length == 4) {
                    skips.add(new ScheduleSkip(reason, Instant.ofEpochMilli(Long.parseLong(fields[1])),
                            Instant.ofEpochMilli(Long.parseLong(fields[2])), Long.parseLong(fields[3])));
                }
            }
            catch (IllegalArgumentException ex) {
                continue; // of another version, or another writer
            }
        }
        return new SkipLog(totals, skips);
    }

}

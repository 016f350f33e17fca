package io.delayqueue.migrate.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

import io.delayqueue.migrate.MigrationSource;
import io.delayqueue.migrate.PayloadDecoder;
import io.delayqueue.migrate.SourceEntry;

/** Decodes waiting entries without taking them. */
public final class DryRun {

    private static final int PAGE = 500;

    private static final int EXAMPLES = 20;

    private final EntryMessages messages;

    private final String target;

    private final List<String> examples = new ArrayList<>();

    private long readable;

    private long dropped;

    private long unreadable;

    private DryRun(PayloadDecoder decoder, String target) {
        this.messages = new EntryMessages(decoder);
        this.target = target;
    }

    /**
     * Decodes all entries that wait in a queue. Entries that are due or added meanwhile
     * may be missed.
     */
    public static Counts of(MigrationSource source, PayloadDecoder decoder, String queue, String target,
            BooleanSupplier stopped) {
        DryRun run = new DryRun(decoder, target);
        List<SourceEntry> page = source.peek(queue, 0, PAGE);
        long offset = 0;
        while (!page.isEmpty() && !stopped.getAsBoolean()) {
            page.forEach(run::examine);
            offset += page.size();
            page = source.peek(queue, offset, PAGE);
        }
        return run.counts();
    }

    /**
     * Decodes some of the entries that wait in a queue, distributed over all of them.
     * @param waiting the number of entries that wait
     * @param pages the number of places at which entries are read, at most
     */
    public static Counts sample(MigrationSource source, PayloadDecoder decoder, String queue, String target,
            long waiting, int pages) {
        DryRun run = new DryRun(decoder, target);
        int size = (int) Math.min(10, waiting);
        long places = (size > 0) ? Math.min(pages, (waiting + size - 1) / size) : 0;
        for (int i = 0; i < places; i++) {
            source.peek(queue, i * waiting / places, size).forEach(run::examine);
        }
        return run.counts();
    }

    private void examine(SourceEntry entry) {
        if (entry.drop() != null) {
            this.dropped++;
            return;
        }
        String problem = this.messages.problem(this.target, entry);
        if (problem == null) {
            this.readable++;
            return;
        }
        this.unreadable++;
        if (this.examples.size() < EXAMPLES) {
            this.examples.add("entry due %s: %s".formatted(entry.dueAt(), problem));
        }
    }

    private Counts counts() {
        return new Counts(this.readable, this.dropped, this.unreadable, List.copyOf(this.examples));
    }

    /**
     * Holds the results.
     *
     * @param readable entries that can be sent
     * @param dropped entries that need not be moved
     * @param unreadable entries that cannot be moved as they are
     * @param examples reasons for some of them
     */
    public record Counts(long readable, long dropped, long unreadable, List<String> examples) {
    }

}

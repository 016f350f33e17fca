package io.delayqueue.model;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.delayqueue.model.Sender.Budget;
import org.jspecify.annotations.Nullable;

/**
 * Walks through all worlds that can be reached, the nearest first, so that the way to the
 * first one that breaks a promise is the shortest there is.
 */
final class Explorer {

    private final Moves moves;

    private final int most;

    private final Map<String, Integer> known = new HashMap<>();

    private final List<World> worlds = new ArrayList<>();

    private final List<Integer> cameFrom = new ArrayList<>();

    private long steps;

    /**
     * Prepares a walk.
     * @param most worlds to look at
     */
    Explorer(Defect defect, int most) {
        this.moves = new Moves(defect);
        this.most = most;
    }

    /** What was found. */
    record Report(int worlds, long steps, boolean all, @Nullable Violation violation, List<String> trace) {

        @Override
        public String toString() {
            return "%,d worlds%s, %,d steps%s".formatted(this.worlds, this.all ? "" : " (not all)", this.steps,
                    (this.violation == null) ? "" : "%n%s%n  %s".formatted(this.violation.getMessage(),
                            String.join(System.lineSeparator() + "  ", this.trace)));
        }

    }

    Report explore(Budget budget, int faults) {
        World start = World.of(budget, faults);
        add(WorldKey.of(start), start, -1);
        int next = 0;
        try {
            for (; next < this.worlds.size() && this.worlds.size() < this.most; next++) {
                expand(next);
            }
        }
        catch (Violation ex) {
            return new Report(this.worlds.size(), this.steps, false, ex, trace(next));
        }
        boolean all = next == this.worlds.size();
        int stuck = findStuck();
        return (stuck < 0) ? new Report(this.worlds.size(), this.steps, all, null, List.of())
                : new Report(this.worlds.size(), this.steps, all, new Violation("P3", "nobody can finish the message"),
                        trace(stuck));
    }

    private void expand(int index) {
        Promises.check(this.worlds.get(index));
        this.moves.from(this.worlds.get(index), (who, what, detail, next) -> {
            this.steps++;
            String key = WorldKey.of(next);
            if (!this.known.containsKey(key)) {
                add(key, next, index);
            }
        });
    }

    private void add(String key, World world, int from) {
        this.known.put(key, this.worlds.size());
        this.worlds.add(world);
        this.cameFrom.add(from);
    }

    /**
     * P3: from each world, if no more goes wrong, the message is finished in the end.
     * @return the nearest world that leads to no end; -1 if there is none
     */
    private int findStuck() {
        Set<String> good = new HashSet<>();
        for (int i = 0; i < this.worlds.size(); i++) {
            Set<String> way = new HashSet<>();
            World world = this.worlds.get(i);
            while (world != null) {
                String key = WorldKey.of(world);
                if (good.contains(key)) {
                    break;
                }
                if (!way.add(key)) {
                    return i;
                }
                world = this.moves.onward(world);
            }
            good.addAll(way);
        }
        return -1;
    }

    /** What happened on the way to a world, and what happens there. */
    private List<String> trace(int end) {
        List<Integer> way = new ArrayList<>();
        for (int at = end; at >= 0; at = this.cameFrom.get(at)) {
            way.add(at);
        }
        Collections.reverse(way);
        List<String> told = new ArrayList<>();
        for (int i = 1; i < way.size(); i++) {
            told.add(step(this.worlds.get(way.get(i - 1)), this.worlds.get(way.get(i))));
        }
        told.add("then, in " + this.worlds.get(end).store());
        return told;
    }

    private String step(World from, World to) {
        List<String> told = new ArrayList<>();
        try {
            this.moves.from(from, (who, what, detail, next) -> {
                if (told.isEmpty() && WorldKey.of(next).equals(WorldKey.of(to))) {
                    told.add("%-7s %s %s".formatted((who == Ledger.Who.NOBODY) ? "" : who, what, detail).strip());
                }
            });
        }
        catch (Violation ex) {
            // Told of the world that it was found in.
        }
        return told.isEmpty() ? "?" : told.get(0);
    }

}

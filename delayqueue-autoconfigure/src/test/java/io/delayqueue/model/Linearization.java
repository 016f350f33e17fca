package io.delayqueue.model;

import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * Looks for one order in which calls of one id can have happened, each at some moment
 * between its start and its end, so that {@link StoreModel} answers as the store did
 * (Wing and Gong's search, which forgets no place where it was, after Lowe).
 */
final class Linearization {

    private final List<Event> events;

    private final StoreModel model;

    private final Set<Place> seen = new HashSet<>();

    private Linearization(List<Event> events, StoreModel model) {
        this.events = events;
        this.model = model;
    }

    /**
     * A call that was made.
     *
     * @param start when it was made, by a clock that all share
     * @param end when its answer was there; {@code Long.MAX_VALUE} if none came
     * @param answer the answer; {@code null} if none came: it may have happened or not
     */
    record Event(long start, long end, Call call, @Nullable Answer answer) {

        static Event unanswered(long start, Call call) {
            return new Event(start, Long.MAX_VALUE, call, null);
        }

    }

    /** Where a search was: which calls have happened, and what the store holds then. */
    private record Place(BitSet happened, Held held) {
    }

    /** Whether there is such an order, from a store that holds nothing on. */
    static boolean exists(List<Event> events) {
        return new Linearization(List.copyOf(events), StoreModel.SOUND).search(new BitSet(), Held.NOTHING);
    }

    private boolean search(BitSet happened, Held held) {
        if (!this.seen.add(new Place((BitSet) happened.clone(), held))) {
            return false;
        }
        long end = Long.MAX_VALUE;
        boolean done = true;
        for (int i = happened.nextClearBit(0); i < this.events.size(); i = happened.nextClearBit(i + 1)) {
            Event event = this.events.get(i);
            end = Math.min(end, event.end);
            done &= event.answer == null;
        }
        if (done) {
            return true; // what is left had no answer, and need not have happened
        }
        for (int i = happened.nextClearBit(0); i < this.events.size(); i = happened.nextClearBit(i + 1)) {
            Event event = this.events.get(i);
            if (event.start <= end && follows(happened, held, i, event)) {
                return true;
            }
        }
        return false;
    }

    private boolean follows(BitSet happened, Held held, int index, Event event) {
        StoreModel.Outcome outcome = this.model.apply(held, event.call);
        if (event.answer != null && !event.answer.equals(outcome.answer())) {
            return false;
        }
        happened.set(index);
        boolean found = search(happened, outcome.held());
        happened.clear(index);
        return found;
    }

}

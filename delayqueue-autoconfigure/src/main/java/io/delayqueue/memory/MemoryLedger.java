package io.delayqueue.memory;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

import io.delayqueue.store.HeldRevision;
import io.delayqueue.store.LedgerChange;
import io.delayqueue.store.LedgerChanges;
import io.delayqueue.store.LedgerEntry;
import io.delayqueue.store.LedgerEntry.Kind;
import io.delayqueue.store.LedgerRequest;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.OfferConditions;
import io.delayqueue.store.RecordedDeadLetter;
import io.delayqueue.store.RevisionPage;
import org.jspecify.annotations.Nullable;

/**
 * Holds the changes of a queue's messages that a journal is to record. Not thread-safe.
 */
final class MemoryLedger {

    /** Later than any time at which a caller gets a change. */
    private static final long NEVER = Long.MAX_VALUE;

    /** Changes, and until when no caller gets them, ms; 0 for those that none got. */
    private final Map<LedgerEntry, Long> open = new LinkedHashMap<>();

    /** Changes that were recorded, and until when they are remembered, ms. */
    private final Map<LedgerEntry, Long> recorded = new HashMap<>();

    /** The number of changes that no journal has recorded, from which on it is full. */
    private final int limit;

    /** Whether a journal has called for the partition, even if it was empty since. */
    private final BooleanSupplier hasJournal;

    MemoryLedger(int limit, BooleanSupplier hasJournal) {
        this.limit = limit;
        this.hasJournal = hasJournal;
    }

    boolean isEmpty() {
        return this.open.isEmpty() && this.recorded.isEmpty();
    }

    /**
     * Returns whether more changes must not be made until a journal has recorded some.
     */
    boolean isFull() {
        return this.open.size() >= this.limit;
    }

    boolean hasEnded(MemoryMessage message) {
        return message.revision != 0 && hasEnded(LedgerEntry.ended(message.revision, message.id));
    }

    boolean hasEnded(LedgerEntry entry) {
        return this.open.containsKey(entry) || this.recorded.containsKey(entry);
    }

    /** Returns what a queue has of a message; {@code there} has its id. */
    HeldRevision heldRevision(LedgerEntry message, @Nullable MemoryMessage there) {
        long held = (there != null) ? there.revision : 0;
        MemoryMessage successor = (there != null) ? there.successor : null;
        return new HeldRevision(held >= message.revision() || hasEnded(message)
                || (successor != null && successor.revision == message.revision()), held);
    }

    static RevisionPage revisions(Collection<MemoryMessage> messages) {
        Map<String, Long> revisions = new HashMap<>();
        Map<String, Long> successors = new HashMap<>();
        for (MemoryMessage message : messages) {
            if (message.revision != 0) {
                revisions.put(message.id, message.revision);
                MemoryMessage successor = message.successor;
                if (successor != null && successor.revision != 0) {
                    successors.put(message.id, successor.revision);
                }
            }
        }
        return new RevisionPage(revisions, successors, RevisionPage.END);
    }

    /** Keeps out what a request has made void, whether it is here or not. */
    void keepOut(String id, @Nullable OfferConditions offer, long now) {
        if (offer == null) {
            return;
        }
        long until = Micros.floorToMillis(now) + OfferConditions.VOID_MEMORY.toMillis();
        for (long revision : offer.voidsOf(id)) {
            LedgerEntry entry = LedgerEntry.ended(revision, id);
            if (!this.open.containsKey(entry)) {
                this.recorded.putIfAbsent(entry, until);
            }
        }
    }

    /** Records that a message has ended, unless it became a dead letter. */
    void ended(@Nullable MemoryMessage message) {
        if (message != null && message.revision != 0) {
            LedgerEntry entry = LedgerEntry.ended(message.revision, message.id);
            this.recorded.remove(entry);
            this.open.putIfAbsent(entry, 0L);
        }
    }

    /** Records that rows of an id have ended whose messages are not here. */
    void endRows(String id, List<Long> revisions) {
        revisions.stream()
            .map((revision) -> LedgerEntry.ended(revision, id))
            .filter((entry) -> !hasEnded(entry))
            .forEach((entry) -> this.open.put(entry, 0L));
    }

    /** Records that the row of an occurrence has ended, unless it is here. */
    void endRow(NewMessage occurrence, @Nullable MemoryMessage there) {
        if (occurrence.revision() != 0 && (there == null || !there.isOf(occurrence))) {
            endRows(occurrence.id(), List.of(occurrence.revision()));
        }
    }

    /**
     * Records that the retry of a message was moved by a journal: the time before may be
     * about to be recorded.
     */
    void rescheduled(MemoryMessage message, @Nullable OfferConditions offer) {
        if (offer != null && message.isTried()) {
            failed(message);
        }
    }

    /** Records that a message has failed, and is retried. */
    void failed(MemoryMessage message) {
        if (message.revision != 0) {
            this.open.put(new LedgerEntry(Kind.FAILED, message.revision, message.id), 0L);
        }
    }

    /**
     * Records that a message becomes a dead letter. No caller gets its end: the one that
     * records the dead letter deletes the row.
     */
    void deadLettered(MemoryMessage message, String deadLetterId) {
        if (message.revision != 0) {
            this.open.put(new LedgerEntry(Kind.DEAD_LETTERED, message.revision, deadLetterId), 0L);
            this.open.put(LedgerEntry.ended(message.revision, message.id), NEVER);
        }
    }

    /** Records that a dead letter is gone. */
    void removed(String deadLetterId) {
        if (this.hasJournal.getAsBoolean()) {
            this.open.put(removal(deadLetterId), 0L);
        }
    }

    private boolean isRemoved(String deadLetterId) {
        LedgerEntry entry = removal(deadLetterId);
        return this.open.containsKey(entry) || this.recorded.containsKey(entry);
    }

    /** Adds dead letters that are not there and were not removed; returns how many. */
    int restore(List<RecordedDeadLetter> deadLetters, Map<String, MemoryDeadLetter> there) {
        int before = there.size();
        deadLetters.stream()
            .filter((deadLetter) -> !isRemoved(deadLetter.deadLetterId()))
            .forEach((deadLetter) -> there.computeIfAbsent(deadLetter.deadLetterId(),
                    (id) -> MemoryDeadLetter.of(id, deadLetter.content())));
        return there.size() - before;
    }

    private static LedgerEntry removal(String deadLetterId) {
        return new LedgerEntry(Kind.DEAD_LETTER_REMOVED, 0, deadLetterId);
    }

    /**
     * Forgets changes that were recorded, and returns others.
     * @param calls the calls of the journal, this one included
     * @param values the value of each change; {@code null} if there is nothing to record
     * @param deadLetters the dead letters of the queue
     */
    LedgerChanges changes(LedgerRequest request, MemoryJournalCalls calls, long now,
            Function<LedgerEntry, @Nullable LedgerChange> values, Map<String, MemoryDeadLetter> deadLetters) {
        if (calls.lost()) {
            this.open.put(new LedgerEntry(Kind.LOST, now, ""), 0L);
        }
        long forget = now + request.keep().toMillis();
        request.held().forEach((entry) -> this.open.replace(entry, now + request.claim().toMillis()));
        request.recorded().forEach((entry) -> recorded(entry, forget, deadLetters));
        this.recorded.values().removeIf((until) -> until < now);
        List<LedgerEntry> free = this.open.entrySet()
            .stream()
            .filter((each) -> each.getValue() <= now)
            .map(Map.Entry::getKey)
            .limit(request.limit())
            .toList();
        List<LedgerChange> changes = new ArrayList<>();
        for (LedgerEntry entry : free) {
            LedgerChange change = values.apply(entry);
            if (change == null) {
                this.open.remove(entry);
            }
            else {
                this.open.put(entry, now + request.claim().toMillis());
                changes.add(change);
            }
        }
        return new LedgerChanges(request.journal(), calls.count(), calls.committedAt(),
                this.open.size() + (long) this.recorded.size(), changes);
    }

    /** Returns the value of a change; {@code null} if there is nothing to record. */
    static @Nullable LedgerChange change(LedgerEntry entry, Map<String, MemoryMessage> messages,
            Map<String, MemoryDeadLetter> deadLetters) {
        return switch (entry.kind()) {
            case FAILED -> failure(entry, messages.get(entry.name()));
            case DEAD_LETTERED -> {
                MemoryDeadLetter deadLetter = deadLetters.get(entry.name());
                yield (deadLetter != null) ? new LedgerChange(entry, deadLetter.toBytes()) : LedgerChange.of(entry);
            }
            case ENDED, DEAD_LETTER_REMOVED, LOST -> LedgerChange.of(entry);
        };
    }

    private static @Nullable LedgerChange failure(LedgerEntry entry, @Nullable MemoryMessage message) {
        return (message != null && message.revision == entry.revision())
                ? LedgerChange.failed(entry, message.failures, message.leased ? null : message.due) : null;
    }

    private void recorded(LedgerEntry entry, long forget, Map<String, MemoryDeadLetter> deadLetters) {
        Long until = this.open.get(entry);
        if (until == null || (entry.kind() == Kind.FAILED && until == 0)) {
            return; // or it has failed again since
        }
        this.open.remove(entry);
        switch (entry.kind()) {
            case ENDED, DEAD_LETTER_REMOVED -> this.recorded.put(entry, forget);
            case DEAD_LETTERED -> {
                LedgerEntry end = LedgerEntry.ended(entry.revision(),
                        entry.name().substring(0, entry.name().lastIndexOf('~')));
                this.open.remove(end);
                this.recorded.put(end, forget);
                if (!deadLetters.containsKey(entry.name())) {
                    removed(entry.name());
                }
            }
            case FAILED, LOST -> {
                // Nothing refers to it.
            }
        }
    }

}

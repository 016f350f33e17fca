package io.delayqueue.memory;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Objects;
import java.util.TreeSet;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.stream.LongStream;

import io.delayqueue.CancelResult;
import io.delayqueue.DeadLetterEvent;
import io.delayqueue.OnDuplicate;
import io.delayqueue.RedriveResult;
import io.delayqueue.RescheduleResult;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.memory.MemoryMessage.Redelivery;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.DeadLetterCursor;
import io.delayqueue.store.DeadLetterRequest;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.HeldRevision;
import io.delayqueue.store.Lease;
import io.delayqueue.store.LedgerChanges;
import io.delayqueue.store.LedgerEntry;
import io.delayqueue.store.LedgerRequest;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.OfferConditions;
import io.delayqueue.store.Partition;
import io.delayqueue.store.RecordedDeadLetter;
import io.delayqueue.store.RevisionPage;
import org.jspecify.annotations.Nullable;

/**
 * Holds the messages and dead letters of one queue, and the transitions. A message waits
 * in the lanes or is leased, never both.
 * <p>
 * Each transition takes the store's time in microseconds. Those for senders first end the
 * lease of their message if it has run out; until a transition ends it, its holder may
 * still settle it.
 * <p>
 * <strong>Threads.</strong> The caller of a method holds {@link #lock}.
 */
final class MemoryQueue {

    /** Limit of lapsed leases that one claim ends. */
    private static final int LAPSE_LIMIT = 100;

    final ReentrantLock lock = new ReentrantLock();

    private final Partition name;

    private final Map<String, MemoryMessage> messages = new HashMap<>();

    private final MemoryLanes lanes = new MemoryLanes();

    private final NavigableSet<MemoryMessage> leased = new TreeSet<>(MemoryMessage.BY_DEADLINE);

    private final Map<String, MemoryDeadLetter> dead = new HashMap<>();

    final MemoryLedger ledger;

    final MemoryDuplicates duplicates = new MemoryDuplicates();

    private boolean wakeUp;

    MemoryQueue(Partition name, MemoryLedger ledger) {
        this.name = name;
        this.ledger = ledger;
    }

    boolean isEmpty() {
        return this.messages.isEmpty() && this.dead.isEmpty() && this.ledger.isEmpty() && this.duplicates.isEmpty();
    }

    /** Returns whether workers should poll, and resets that. */
    boolean takeWakeUp() {
        boolean taken = this.wakeUp;
        this.wakeUp = false;
        return taken;
    }

    /** Returns whether it holds or keeps out this id, or holds others of its group. */
    boolean holds(NewMessage sent, long now) {
        return waitingOrLeased(sent.id(), now) != null || this.lanes.holds(sent.group())
                || this.duplicates.keepsOut(sent, now) || hasEnded(sent);
    }

    /** Rejects a message that the number of duplicate windows does not allow. */
    void requireWindow(NewMessage sent, long now) {
        this.duplicates.requireRoom(sent, find(sent.id(), now) != null, this.name.queue(), now);
    }

    /** Rejects a message that would replace or succeed one of another group. */
    void requireSameGroup(NewMessage sent, long now) {
        MemoryMessage there = find(sent.id(), now);
        boolean replace = sent.onDuplicate() == OnDuplicate.REPLACE;
        if (there != null && (replace || there.isFollowedBy(sent, now)) && !Objects.equals(there.group, sent.group())) {
            throw sent.changesGroup(this.name.queue());
        }
    }

    /** Stores a message; keeps or replaces one that has its id. */
    SendResult send(NewMessage sent, @Nullable OfferConditions offer, long now) {
        boolean restored = offer != null && offer.restores() && !sent.due().relative();
        MemoryMessage fresh = MemoryMessage.of(sent, restored ? 0 : now);
        MemoryMessage there = waitingOrLeased(fresh.id, now);
        if (this.ledger.hasEnded(fresh) || (there != null && there.isLaterThan(fresh))) {
            return sent(fresh, SendOutcome.KEPT, now);
        }
        if (there == null && this.duplicates.keepsOut(sent, now)) {
            return new SendResult(this.name.queue().value(), sent.id(), null, SendOutcome.DEDUPLICATED);
        }
        if (there == null) {
            this.ledger.keepOut(sent.id(), offer, now);
            put(fresh);
            this.lanes.setFailed(fresh, offer);
            return sent(fresh, SendOutcome.SCHEDULED, now);
        }
        if (fresh.revision != 0 && there.revision == fresh.revision) {
            return new SendResult(this.name.queue().value(), there.id, there.ownDue(now), SendOutcome.RECORDED);
        }
        boolean replace = sent.onDuplicate() == OnDuplicate.REPLACE;
        if (there.leased) {
            return follow(there, fresh, replace || there.isFollowedBy(sent, now), now);
        }
        if (!replace) {
            return sent(there, SendOutcome.KEPT, now);
        }
        this.ledger.keepOut(sent.id(), offer, now);
        fresh.token = there.token; // a later lease needs a later token
        remove(there);
        this.ledger.ended(there);
        put(fresh);
        return sent(fresh, SendOutcome.REPLACED, now);
    }

    /** Makes a message the successor of a leased one, if it is to follow that. */
    private SendResult follow(MemoryMessage there, MemoryMessage fresh, boolean follows, long now) {
        MemoryMessage next = there.successor;
        if (next != null && fresh.revision != 0 && next.revision == fresh.revision) {
            return sent(next, SendOutcome.RECORDED, now);
        }
        if ((next != null && next.isLaterThan(fresh)) || !follows) {
            return sent((next != null) ? next : there, SendOutcome.KEPT, now);
        }
        this.ledger.ended(next);
        there.successor = fresh;
        fresh.window = MemoryMessage.NONE;
        return sent(fresh, SendOutcome.AFTER_CURRENT, now);
    }

    /**
     * Stores an occurrence of a schedule, due when it was even if that is past, unless
     * its id is held. Other rows of it end then.
     * @return whether this send has stored what is held
     */
    boolean sendOccurrence(NewMessage sent, List<Long> voids) {
        MemoryMessage there = this.messages.get(sent.id());
        if (there == null) {
            put(MemoryMessage.of(sent, 0));
            this.ledger.endRows(sent.id(), voids);
        }
        return there == null || there.isOf(sent);
    }

    boolean holds(String id) {
        return this.messages.containsKey(id);
    }

    boolean hasEnded(NewMessage sent) {
        return this.ledger.hasEnded(MemoryMessage.of(sent, 0));
    }

    void endRow(NewMessage occurrence) {
        this.ledger.endRow(occurrence, this.messages.get(occurrence.id()));
    }

    private SendResult sent(MemoryMessage message, SendOutcome outcome, long now) {
        return new SendResult(this.name.queue().value(), message.id, Instant.ofEpochMilli(message.dueForSender(now)),
                outcome);
    }

    ClaimResult claim(ClaimRequest request, long now) {
        endLapsedLeases(now, Micros.of(request.usualLease()));
        long millis = Micros.floorToMillis(now);
        List<DeadLetterEvent> deadLettered = new ArrayList<>();
        DueMessages due = new DueMessages(this.lanes, millis, request.limit());
        due.take((expired) -> {
            remove(expired);
            this.ledger.ended(expired);
            if (request.policy() == ExpiryPolicy.DEAD_LETTER) {
                deadLettered.add(deadLetterExpired(expired, now));
            }
        });
        lease(due.taken(), now + Micros.of(request.leaseTime()));
        this.wakeUp |= this.lanes.due(millis).findAny().isPresent(); // others may help
        LongStream ends = this.leased.stream().limit(1).mapToLong((first) -> Micros.ceilToMillis(first.deadline));
        return new ClaimResult(due.taken().stream().map((message) -> message.claimed(this.name)).toList(),
                Micros.toInstant(now), Micros.earliest(this.lanes.heads(), ends), due.expired(), deadLettered, 0,
                request.bid() != null);
    }

    private DeadLetterEvent deadLetterExpired(MemoryMessage message, long now) {
        String id = new Lease(this.name, message.id, Long.toString(now)).deadLetterId();
        addDeadLetter(message, id, new DeadLetterRequest("expired", false, Instant.ofEpochMilli(message.due)), now);
        return new DeadLetterEvent(this.name.queue().value(), message.id, id, message.failures, "expired");
    }

    private void endLapsedLeases(long now, long usualLease) {
        List<MemoryMessage> lapsed = this.leased.stream()
            .takeWhile((message) -> message.deadline <= now)
            .limit(LAPSE_LIMIT)
            .toList();
        lapsed.forEach((message) -> lapse(message, message.dueAfterLapse(usualLease)));
    }

    /** Leases messages, with a token later than all of their earlier ones. */
    private void lease(List<MemoryMessage> taken, long until) {
        long token = taken.stream().mapToLong((message) -> message.token + 1).reduce(until, Math::max);
        for (MemoryMessage message : taken) {
            message.leased = true;
            message.token = token;
            message.deadline = until;
            message.released = false;
            this.leased.add(message);
        }
    }

    boolean acknowledge(Lease lease, long now) {
        return change(lease, (message) -> {
            this.duplicates.begin(message, now);
            end(message);
        });
    }

    boolean expire(Lease lease) {
        return change(lease, this::end);
    }

    boolean extend(Lease lease, Duration leaseTime, long now) {
        return change(lease, (message) -> {
            this.leased.remove(message);
            message.deadline = Math.max(message.deadline, now + Micros.of(leaseTime));
            this.leased.add(message);
        });
    }

    boolean start(Lease lease) {
        return change(lease, (message) -> message.redelivery = Redelivery.STARTED);
    }

    boolean retry(Lease lease, Duration delay, String failure, long now) {
        return change(lease, (message) -> {
            message.failed(failure, Micros.floorToMillis(now));
            message.redelivery = Redelivery.NONE;
            returnToQueue(message, message.untilExpiry(MemoryMessage.dueMillis(DueTime.after(delay), now), now));
            this.ledger.failed(message);
        }) || hasReleased(lease);
    }

    boolean release(Lease lease, long due, long now) {
        return change(lease, (message) -> {
            if (message.redelivery == Redelivery.STARTED) {
                message.redelivery = Redelivery.NONE;
            }
            returnToQueue(message, message.untilExpiry(due, now));
        }) || hasReleased(lease);
    }

    boolean deadLetter(Lease lease, DeadLetterRequest request, long now) {
        return change(lease, (message) -> {
            addDeadLetter(message, lease.deadLetterId(), request, now);
            end(message);
        }) || this.dead.containsKey(lease.deadLetterId()); // a repeated call
    }

    /** Changes the message of a lease that was not ended, even if it has run out. */
    private boolean change(Lease lease, Consumer<MemoryMessage> transition) {
        MemoryMessage message = this.messages.get(lease.id());
        if (message == null || !message.leased || !message.hasToken(lease.token())) {
            return false;
        }
        transition.accept(message);
        return true;
    }

    /** Ends a lease for its holder: schedules another attempt, or the successor. */
    private void returnToQueue(MemoryMessage message, long due) {
        if (message.isSuperseded()) {
            end(message);
            return;
        }
        message.released = true;
        backToLane(message, due);
    }

    CancelResult cancel(String id, @Nullable OfferConditions offer, long now) {
        this.ledger.keepOut(id, offer, now);
        MemoryMessage there = waitingOrLeased(id, now);
        if (there == null || !there.leased) {
            this.duplicates.end(id);
        }
        if (there == null || there.isLaterThan(offer)) {
            return CancelResult.NOT_FOUND;
        }
        if (there.leased) {
            if (there.successor != null && there.successor.isLaterThan(offer)) {
                return CancelResult.LEASED;
            }
            there.cancelled = true;
            this.ledger.ended(there.successor);
            there.successor = null;
            return CancelResult.LEASED;
        }
        remove(there);
        this.ledger.ended(there);
        return CancelResult.CANCELLED;
    }

    RescheduleResult reschedule(String id, DueTime due, @Nullable OfferConditions offer, long now) {
        MemoryMessage there = waitingOrLeased(id, now);
        if (there == null || there.isLaterThan(offer)) {
            return RescheduleResult.NOT_FOUND;
        }
        if (there.leased) {
            return RescheduleResult.LEASED;
        }
        Long only = (offer != null) ? offer.dueThere() : null;
        long millis = MemoryMessage.dueMillis(due, now);
        if (only != null && (there.ownDue(now).toEpochMilli() != only || millis < only && there.isTried())) {
            return RescheduleResult.NOT_FOUND;
        }
        remove(there);
        there.moveTo(millis);
        put(there);
        this.ledger.rescheduled(there, offer);
        return RescheduleResult.RESCHEDULED;
    }

    RedriveResult redrive(String deadLetterId, long now) {
        MemoryDeadLetter deadLetter = this.dead.get(deadLetterId);
        if (deadLetter == null) {
            return RedriveResult.NOT_FOUND;
        }
        if (waitingOrLeased(deadLetter.id(), now) != null) {
            return RedriveResult.ID_IN_USE;
        }
        removeDeadLetter(deadLetterId);
        put(MemoryMessage.of(deadLetter, Micros.ceilToMillis(now)));
        return RedriveResult.REDRIVEN;
    }

    boolean purge(String deadLetterId) {
        MemoryDeadLetter deadLetter = this.dead.get(deadLetterId);
        if (deadLetter != null) {
            this.duplicates.end(Lease.idOf(deadLetterId), deadLetter.deadLetteredMillis());
        }
        return removeDeadLetter(deadLetterId);
    }

    /** Removes a dead letter, and leaves the duplicate window of its id. */
    boolean removeDeadLetter(String deadLetterId) {
        boolean removed = this.dead.remove(deadLetterId) != null;
        if (removed) {
            this.ledger.removed(deadLetterId);
        }
        return removed;
    }

    int purgeOlderThan(Duration age, long now) {
        long latest = age.isZero() ? Long.MAX_VALUE : Micros.floorToMillis(now) - age.toMillis();
        List<MemoryDeadLetter> old = this.dead.values()
            .stream()
            .filter((deadLetter) -> deadLetter.deadLetteredMillis() <= latest)
            .sorted(MemoryDeadLetter.OLDEST_FIRST)
            .limit(MessageStore.BATCH_LIMIT)
            .toList();
        old.forEach((deadLetter) -> purge(deadLetter.deadLetterId()));
        return old.size();
    }

    private void addDeadLetter(MemoryMessage message, String deadLetterId, DeadLetterRequest request, long now) {
        this.dead.put(deadLetterId, MemoryDeadLetter.of(message, deadLetterId, request, now));
        this.ledger.deadLettered(message, deadLetterId);
        this.duplicates.begin(message, now);
    }

    /** Returns the message of that id; first ends its lease if it has run out. */
    private @Nullable MemoryMessage waitingOrLeased(String id, long now) {
        MemoryMessage message = this.messages.get(id);
        if (message != null && message.leased && message.deadline <= now) {
            lapse(message, message.dueAfterLapse());
            return this.messages.get(id);
        }
        return message;
    }

    /**
     * Returns whether the holder has released this lease: then the call is a repeated
     * one.
     */
    private boolean hasReleased(Lease lease) {
        MemoryMessage message = this.messages.get(lease.id());
        return message != null && message.released && message.hasToken(lease.token());
    }

    /** Ends a lease that ran out. */
    private void lapse(MemoryMessage message, long due) {
        if (message.isSuperseded()) {
            end(message);
            return;
        }
        if (message.redelivery == Redelivery.STARTED) {
            message.lapses++;
        }
        message.redelivery = Redelivery.REDELIVERED;
        backToLane(message, due);
    }

    private void backToLane(MemoryMessage message, long due) {
        this.leased.remove(message);
        message.leased = false;
        message.due = due;
        this.lanes.putBack(message);
        this.wakeUp = true;
    }

    /** Forgets changes that a journal has recorded, and returns others. */
    LedgerChanges changes(LedgerRequest request, MemoryJournalCalls calls, long now) {
        return this.ledger.changes(request, calls, Micros.floorToMillis(now),
                (entry) -> MemoryLedger.change(entry, this.messages, this.dead), this.dead);
    }

    RevisionPage revisions() {
        return MemoryLedger.revisions(this.messages.values());
    }

    /** Returns what is here of a message. */
    HeldRevision heldRevision(LedgerEntry message) {
        return this.ledger.heldRevision(message, this.messages.get(message.name()));
    }

    /** Stores dead letters again that are not here, and returns how many. */
    int restoreDeadLetters(List<RecordedDeadLetter> deadLetters) {
        return this.ledger.restore(deadLetters, this.dead);
    }

    /** Removes a leased message, and adds its successor. */
    private void end(MemoryMessage message) {
        remove(message);
        this.ledger.ended(message);
        if (message.successor != null) {
            put(message.successor);
        }
    }

    private void put(MemoryMessage message) {
        this.messages.put(message.id, message);
        this.wakeUp |= this.lanes.add(message);
    }

    private void remove(MemoryMessage message) {
        this.messages.remove(message.id);
        this.leased.remove(message);
        this.wakeUp |= this.lanes.remove(message);
    }

    /** Returns the message of that id, or the successor if its lease has run out. */
    @Nullable MemoryMessage find(String id, long now) {
        MemoryMessage message = this.messages.get(id);
        boolean replaced = message != null && message.leased && message.deadline <= now && message.isSuperseded();
        return (message != null && replaced) ? message.successor : message;
    }

    MemoryQueueView view(long now) {
        return new MemoryQueueView(this.name.queue(), this.lanes, this.leased, this.dead.size(), now);
    }

    @Nullable MemoryDeadLetter deadLetter(String deadLetterId) {
        return this.dead.get(deadLetterId);
    }

    /** Returns the dead letters after the cursor, the latest first. */
    List<MemoryDeadLetter> deadLetters(@Nullable DeadLetterCursor cursor, int limit) {
        return MemoryDeadLetter.page(this.dead.values(), cursor, limit);
    }

}

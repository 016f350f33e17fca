package io.delayqueue.migrate.engine;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import io.delayqueue.BatchSendException;
import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedMessage;
import io.delayqueue.PayloadConversionException;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.StoredMessage;
import io.delayqueue.migrate.PayloadDecoder;
import io.delayqueue.migrate.EntryOutcome;
import io.delayqueue.migrate.SourceEntry;
import io.delayqueue.migrate.SourceSchedule;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/**
 * Sends taken entries. A send keeps what the queue holds under the id, so a batch may be
 * sent again until its messages are handled.
 */
final class EntrySender {

    private final DelayQueueOperations queues;

    private final EntryMessages messages;

    private final EntrySchedules schedules;

    /**
     * Creates it.
     * @param json writes payloads as the target does
     */
    EntrySender(DelayQueueOperations queues, PayloadDecoder decoder, JsonMapper json) {
        this.queues = queues;
        this.messages = new EntryMessages(decoder);
        this.schedules = new EntrySchedules(queues, this.messages, json);
    }

    /** Sends entries, as far as the queue answers; the others can be sent again. */
    Sent send(String queue, List<SourceEntry> entries) {
        Sent sent = new Sent();
        List<Outgoing> outgoing = new ArrayList<>(entries.size());
        for (SourceEntry entry : entries) {
            if (entry.drop() != null) {
                sent.outcomes.add(EntryOutcome.dropped(entry.id(), entry.drop()));
            }
            else if (entry.schedule() != null) {
                put(queue, entry, entry.schedule(), sent);
            }
            else {
                try {
                    outgoing.add(new Outgoing(entry, this.messages.of(queue, entry)));
                }
                catch (Exception ex) {
                    sent.outcomes.add(EntryOutcome.unreadable(entry.id(), EntryMessages.reason(ex)));
                }
            }
        }
        sendAll(queue, outgoing, sent);
        return sent;
    }

    private void put(String queue, SourceEntry entry, SourceSchedule schedule, Sent sent) {
        if (sent.failure != null) {
            sent.open.add(entry);
            return;
        }
        try {
            EntrySchedules.Put put = this.schedules.put(queue, entry, schedule);
            sent.outcomes.add(put.outcome());
            sent.schedules += put.isSent() ? 1 : 0;
            sent.kept += put.kept() ? 1 : 0;
        }
        catch (DelayQueueException ex) {
            // A put that is repeated changes nothing.
            sent.fail(ex, 0);
            sent.open.add(entry);
        }
    }

    /** Sends messages at once, unless a call has failed before. */
    private void sendAll(String queue, List<Outgoing> outgoing, Sent sent) {
        if (outgoing.isEmpty() || sent.failure != null) {
            outgoing.forEach((one) -> sent.open.add(one.entry()));
            return;
        }
        List<SendResult> results;
        try {
            results = this.queues.sendAll(outgoing.stream().map(Outgoing::message).toList());
        }
        catch (IllegalArgumentException | PayloadConversionException ex) {
            // One of them cannot be stored, and nothing is.
            sendEach(queue, outgoing, ex, sent);
            return;
        }
        catch (BatchSendException ex) {
            sent.fail(ex, ex.unknown().size());
            acceptStored(queue, outgoing, ex.stored(), sent);
            return;
        }
        catch (DelayQueueException ex) {
            sent.fail(ex, (ex.effect() != Effect.NONE) ? outgoing.size() : 0);
            acceptStored(queue, outgoing, List.of(), sent);
            return;
        }
        for (int i = 0; i < results.size(); i++) {
            accept(queue, outgoing.get(i), results.get(i), sent);
        }
    }

    private void sendEach(String queue, List<Outgoing> outgoing, RuntimeException refusal, Sent sent) {
        if (outgoing.size() == 1) {
            sent.outcomes.add(EntryOutcome.unreadable(outgoing.get(0).entry().id(), EntryMessages.reason(refusal)));
            return;
        }
        outgoing.forEach((one) -> sendAll(queue, List.of(one), sent));
    }

    /**
     * Accepts the messages of a batch that are stored; the others stay open. Of messages
     * with the same id, the first ones are stored.
     */
    private void acceptStored(String queue, List<Outgoing> outgoing, List<SendResult> stored, Sent sent) {
        Map<String, Deque<SendResult>> results = new HashMap<>();
        stored.forEach((result) -> results.computeIfAbsent(result.id(), (id) -> new ArrayDeque<>()).add(result));
        for (Outgoing one : outgoing) {
            Deque<SendResult> found = results.get(one.id());
            SendResult result = (found != null) ? found.poll() : null;
            if (result != null) {
                accept(queue, one, result, sent);
            }
            else {
                sent.open.add(one.entry());
            }
        }
    }

    /**
     * Accepts a message that the queue holds. One that it held before, under an id of the
     * source, needs further calls, which are not made after a failure.
     */
    private void accept(String queue, Outgoing one, SendResult result, Sent sent) {
        boolean kept = result.outcome() == SendOutcome.KEPT;
        if (kept && !one.isUnderOwnId() && sent.failure != null) {
            sent.open.add(one.entry());
            return;
        }
        try {
            if (kept && isOwn(queue, one)) {
                sent.kept++;
            }
            else if (kept) {
                this.queues.send(underOwnId(one));
                sent.renamed++;
            }
            sent.outcomes.add(EntryOutcome.sent(one.entry().id()));
        }
        catch (DelayQueueException ex) {
            sent.fail(ex, (ex.effect() != Effect.NONE) ? 1 : 0);
            sent.open.add(one.entry());
        }
    }

    /** Returns whether the queue holds this entry, and not another with its id. */
    private boolean isOwn(String queue, Outgoing one) {
        if (one.isUnderOwnId()) {
            return true;
        }
        Optional<StoredMessage> held = this.queues.find(queue, one.id());
        return held.isPresent() && one.entry().id().equals(held.get().headers().get(EntryMessages.ENTRY_HEADER));
    }

    private static DelayedMessage underOwnId(Outgoing one) {
        return one.message().toBuilder().id(one.entry().id()).header(EntryMessages.SOURCE_ID_HEADER, one.id()).build();
    }

    /** Holds the results of a batch. */
    static final class Sent {

        private final List<EntryOutcome> outcomes = new ArrayList<>();

        private final List<SourceEntry> open = new ArrayList<>();

        private int kept;

        private int renamed;

        private int schedules;

        private int unknown;

        private @Nullable DelayQueueException failure;

        private void fail(DelayQueueException cause, int mayBeStored) {
            this.failure = (this.failure != null) ? this.failure : cause;
            this.unknown += mayBeStored;
        }

        /** Returns the outcome of each entry that is not open. */
        List<EntryOutcome> outcomes() {
            return this.outcomes;
        }

        /** Returns the entries that must be sent again; none without a failure. */
        List<SourceEntry> open() {
            return this.open;
        }

        /** Returns the number of open entries that the queue may hold already. */
        int unknown() {
            return this.unknown;
        }

        /** Returns why entries are open; {@code null} if none is. */
        @Nullable DelayQueueException failure() {
            return this.failure;
        }

        /** Returns the number of entries that the queue held already. */
        int kept() {
            return this.kept;
        }

        /**
         * Returns the number of entries that were sent under an id of their own, as the
         * queue held another message with their id.
         */
        int renamed() {
            return this.renamed;
        }

        /** Returns the number of entries that are schedules now. */
        int schedules() {
            return this.schedules;
        }

    }

    private record Outgoing(SourceEntry entry, DelayedMessage message) {

        String id() {
            return this.message.id().orElseThrow();
        }

        /** Returns whether the message has the id of the entry, not one of the source. */
        boolean isUnderOwnId() {
            return id().equals(this.entry.id());
        }

    }

}

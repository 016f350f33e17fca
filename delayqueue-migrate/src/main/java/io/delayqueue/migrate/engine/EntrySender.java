package io.delayqueue.migrate.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedMessage;
import io.delayqueue.MessageLimits;
import io.delayqueue.PayloadConversionException;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.StoredMessage;
import io.delayqueue.migrate.PayloadDecoder;
import io.delayqueue.migrate.EntryOutcome;
import io.delayqueue.migrate.SourceEntry;
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

    /**
     * Sends entries.
     * @throws io.delayqueue.DelayQueueException if not all could be sent; the call can be
     * repeated
     */
    Sent send(String queue, List<SourceEntry> entries) {
        List<EntryOutcome> outcomes = new ArrayList<>(entries.size());
        List<Outgoing> outgoing = new ArrayList<>(entries.size());
        int put = 0;
        int kept = 0;
        for (SourceEntry entry : entries) {
            if (entry.drop() != null) {
                outcomes.add(EntryOutcome.dropped(entry.id(), entry.drop()));
                continue;
            }
            if (entry.schedule() != null) {
                EntrySchedules.Put result = this.schedules.put(queue, entry, entry.schedule());
                outcomes.add(result.outcome());
                put += result.isSent() ? 1 : 0;
                kept += result.kept() ? 1 : 0;
                continue;
            }
            try {
                outgoing.add(new Outgoing(entry, this.messages.of(queue, entry)));
            }
            catch (Exception ex) {
                outcomes.add(EntryOutcome.unreadable(entry.id(), EntryMessages.reason(ex)));
            }
        }
        Sent sent = sendAll(queue, outgoing, outcomes);
        return new Sent(outcomes, sent.kept() + kept, sent.renamed(), put);
    }

    private Sent sendAll(String queue, List<Outgoing> outgoing, List<EntryOutcome> outcomes) {
        List<SendResult> results;
        try {
            results = this.queues.sendAll(outgoing.stream().map(Outgoing::message).toList());
        }
        catch (IllegalArgumentException | PayloadConversionException ex) {
            // One of them cannot be stored, and nothing is.
            return (outgoing.size() == 1) ? refused(outgoing.get(0), outcomes, ex)
                    : sendEach(queue, outgoing, outcomes);
        }
        int kept = 0;
        int renamed = 0;
        for (int i = 0; i < results.size(); i++) {
            Outgoing sent = outgoing.get(i);
            if (results.get(i).outcome() == SendOutcome.KEPT && !isOwn(queue, sent)) {
                renamed++;
                this.queues.send(underOwnId(sent));
            }
            else if (results.get(i).outcome() == SendOutcome.KEPT) {
                kept++;
            }
            outcomes.add(EntryOutcome.sent(sent.entry().id()));
        }
        return new Sent(outcomes, kept, renamed, 0);
    }

    private Sent sendEach(String queue, List<Outgoing> outgoing, List<EntryOutcome> outcomes) {
        int kept = 0;
        int renamed = 0;
        for (Outgoing one : outgoing) {
            Sent sent = sendAll(queue, List.of(one), outcomes);
            kept += sent.kept();
            renamed += sent.renamed();
        }
        return new Sent(outcomes, kept, renamed, 0);
    }

    private static Sent refused(Outgoing outgoing, List<EntryOutcome> outcomes, RuntimeException ex) {
        outcomes.add(EntryOutcome.unreadable(outgoing.entry().id(), EntryMessages.reason(ex)));
        return new Sent(outcomes, 0, 0, 0);
    }

    /** Returns whether the queue holds this entry, and not another with its id. */
    private boolean isOwn(String queue, Outgoing sent) {
        String id = sent.message().id().orElseThrow();
        if (id.equals(sent.entry().id())) {
            return true;
        }
        Optional<StoredMessage> held = this.queues.find(queue, id);
        return held.isPresent() && sent.entry().id().equals(held.get().headers().get(EntryMessages.ENTRY_HEADER));
    }

    private static DelayedMessage underOwnId(Outgoing sent) {
        return sent.message()
            .toBuilder()
            .id(sent.entry().id())
            .header(EntryMessages.SOURCE_ID_HEADER, sent.message().id().orElseThrow())
            .build();
    }

    /**
     * Holds the results of a batch.
     *
     * @param outcomes the outcome of each entry
     * @param kept entries that the queue held already
     * @param renamed entries that were sent under an id of their own, as the queue held
     * another message with their id
     * @param schedules entries that are schedules now
     */
    record Sent(List<EntryOutcome> outcomes, int kept, int renamed, int schedules) {
    }

    private record Outgoing(SourceEntry entry, DelayedMessage message) {
    }

}

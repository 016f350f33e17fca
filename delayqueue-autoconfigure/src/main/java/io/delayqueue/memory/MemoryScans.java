package io.delayqueue.memory;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

import io.delayqueue.MessageState;
import io.delayqueue.MessageSummary;
import io.delayqueue.QueueName;
import io.delayqueue.admin.DeadLetterSummary;
import io.delayqueue.admin.MessageScanPage;
import io.delayqueue.admin.ScanSelection;
import io.delayqueue.store.DeadLetterCursor;
import io.delayqueue.store.DeadLetterSummaryPage;
import io.delayqueue.store.LocatedId;
import io.delayqueue.store.RetryingStep;
import org.jspecify.annotations.Nullable;

/**
 * Walks through the messages and dead letters of one {@link MemoryQueue}, each time in
 * one step. Guarded as that is.
 *
 * @param queue the queue
 * @param name its name
 * @param now the store's time, microseconds
 */
record MemoryScans(MemoryQueue queue, QueueName name, long now) {

    MessageScanPage scan(ScanSelection selection, String idPrefix) {
        List<MessageSummary> messages = this.queue.view(this.now)
            .of(selection)
            .filter((message) -> message.id.startsWith(idPrefix))
            .map((message) -> message.summary(this.name, this.now))
            .toList();
        List<DeadLetterSummary> deadLetters = new ArrayList<>();
        if (selection == ScanSelection.ALL || selection == ScanSelection.DEAD) {
            all().stream()
                .filter((deadLetter) -> deadLetter.id().startsWith(idPrefix))
                .forEach((deadLetter) -> deadLetters.add(summary(deadLetter)));
        }
        return new MessageScanPage(messages, deadLetters, messages.size() + deadLetters.size(), null);
    }

    RetryingStep countRetrying() {
        long count = this.queue.view(this.now).of(ScanSelection.RETRYING).count();
        return new RetryingStep(count, count, null);
    }

    LocatedId locate(String id, int version) {
        MemoryMessage found = this.queue.find(id, this.now);
        MessageState state = (found != null) ? found.summary(this.name, this.now).state() : null;
        return new LocatedId(state, version,
                all().stream().filter((deadLetter) -> deadLetter.id().equals(id)).map(this::summary).toList(), null);
    }

    DeadLetterSummaryPage deadLetterSummaries(@Nullable String cursor, int limit) {
        DeadLetterCursor from = (cursor != null) ? DeadLetterCursor.parse(cursor) : null;
        List<DeadLetterSummaryPage.SummaryWithCause> deadLetters = this.queue.deadLetters(from, limit)
            .stream()
            .map((deadLetter) -> new DeadLetterSummaryPage.SummaryWithCause(summary(deadLetter),
                    deadLetter.cause().lines().findFirst().orElse("")))
            .toList();
        DeadLetterSummary last = (deadLetters.size() == limit) ? deadLetters.get(limit - 1).deadLetter() : null;
        return new DeadLetterSummaryPage(deadLetters,
                (last != null) ? last.deadLetteredAt().toEpochMilli() + ":" + last.id() : null);
    }

    private List<MemoryDeadLetter> all() {
        return this.queue.deadLetters(null, Integer.MAX_VALUE);
    }

    private DeadLetterSummary summary(MemoryDeadLetter deadLetter) {
        return new DeadLetterSummary(this.name.value(), deadLetter.deadLetterId(), deadLetter.id(),
                Instant.ofEpochMilli(deadLetter.deadLetteredMillis()));
    }

}

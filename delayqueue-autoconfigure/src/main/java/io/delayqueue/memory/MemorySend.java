package io.delayqueue.memory;

import java.time.Instant;
import java.util.Objects;

import io.delayqueue.OnDuplicate;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.store.NewMessage;

/**
 * Applies the messages of one send to a queue. Guarded as {@link MemoryQueue} is.
 *
 * @param queue where they go
 * @param now the time of the send, in microseconds
 */
record MemorySend(MemoryQueue queue, long now) {

    /** Rejects a message that would replace or succeed one of another group. */
    void requireSameGroup(NewMessage sent) {
        MemoryMessage there = this.queue.find(sent.id(), this.now);
        boolean replace = sent.onDuplicate() == OnDuplicate.REPLACE;
        if (there != null && (replace || there.isFollowedBy(sent, this.now))
                && !Objects.equals(there.group, sent.group())) {
            throw sent.changesGroup(this.queue.name());
        }
    }

    /** Stores a message; keeps or replaces one that has its id. */
    SendResult apply(NewMessage sent) {
        MemoryMessage fresh = MemoryMessage.of(sent, this.now);
        MemoryMessage there = this.queue.waitingOrLeased(fresh.id, this.now);
        if (there == null) {
            this.queue.put(fresh);
            return result(fresh, SendOutcome.SCHEDULED);
        }
        boolean replace = sent.onDuplicate() == OnDuplicate.REPLACE;
        if (there.leased) {
            if (!replace && !there.isFollowedBy(sent, this.now)) {
                return result((there.successor != null) ? there.successor : there, SendOutcome.KEPT);
            }
            there.successor = fresh;
            return result(fresh, SendOutcome.AFTER_CURRENT);
        }
        if (!replace) {
            return result(there, SendOutcome.KEPT);
        }
        fresh.token = there.token; // a later lease needs a later token
        this.queue.remove(there);
        this.queue.put(fresh);
        return result(fresh, SendOutcome.REPLACED);
    }

    private SendResult result(MemoryMessage message, SendOutcome outcome) {
        return new SendResult(this.queue.name().value(), message.id,
                Instant.ofEpochMilli(message.dueForSender(this.now)), outcome);
    }

}

package io.delayqueue.test;

import java.util.Optional;

import io.delayqueue.DeadLetter;
import io.delayqueue.MessageState;
import io.delayqueue.StoredMessage;
import org.assertj.core.api.AbstractAssert;

/**
 * Asserts what a queue holds. Failures print the queue as a table.
 *
 * @param <S> the type of the assertion
 * @see QueueAssert
 * @see DelayQueueTester
 */
public abstract class AbstractQueueAssert<S extends AbstractQueueAssert<S>> extends AbstractAssert<S, TestQueue> {

    AbstractQueueAssert(TestQueue actual, Class<S> type) {
        super(actual, type);
    }

    /**
     * Asserts that a message waits for its due time or for a handler.
     * @return asserts further properties of this message
     */
    public ScheduledMessageAssert hasScheduled(String id) {
        isNotNull();
        Optional<StoredMessage> message = this.actual.message(id);
        if (message.isEmpty()) {
            throw failure("Expected message '%s' to wait, but the queue does not hold it:%n%s", id, this.actual);
        }
        if (message.get().state() != MessageState.SCHEDULED) {
            throw failure("Expected message '%s' to wait, but it is in flight:%n%s", id, this.actual);
        }
        return new ScheduledMessageAssert(this.actual, message.get());
    }

    /**
     * Asserts that a message became a dead letter.
     * @param id the id of the message
     * @return asserts further properties of its latest dead letter
     */
    public DeadLetterAssert hasDeadLetter(String id) {
        isNotNull();
        Optional<DeadLetter> deadLetter = this.actual.deadLetter(id);
        if (deadLetter.isEmpty()) {
            throw failure("Expected a dead letter of message '%s', but there is none:%n%s", id, this.actual);
        }
        return new DeadLetterAssert(this.actual, deadLetter.get());
    }

    /** Asserts that a message neither waits nor is in flight. */
    public S doesNotHold(String id) {
        isNotNull();
        if (this.actual.message(id).isPresent()) {
            throw failure("Expected the queue not to hold message '%s', but it does:%n%s", id, this.actual);
        }
        return this.myself;
    }

    /** Asserts that there are neither messages nor dead letters. */
    public S isEmpty() {
        isNotNull();
        if (!this.actual.isEmpty()) {
            throw failure("Expected no messages and no dead letters, but there are:%n%s", this.actual);
        }
        return this.myself;
    }

}

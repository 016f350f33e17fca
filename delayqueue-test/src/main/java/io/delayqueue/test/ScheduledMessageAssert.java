package io.delayqueue.test;

import java.time.Duration;
import java.time.Instant;
import java.util.Objects;

import io.delayqueue.StoredMessage;
import io.delayqueue.store.Texts;

/**
 * Asserts the properties of one message that waits, and then those of its queue.
 *
 * @see DelayQueueTester
 */
public final class ScheduledMessageAssert extends AbstractQueueAssert<ScheduledMessageAssert> {

    private final StoredMessage message;

    ScheduledMessageAssert(TestQueue queue, StoredMessage message) {
        super(queue, ScheduledMessageAssert.class);
        this.message = message;
    }

    /** Asserts how long it is until the message is due, to the millisecond. */
    public ScheduledMessageAssert dueIn(Duration delay) {
        Instant due = due();
        if (!due.equals(this.actual.now().plus(delay))) {
            throw failureWithActualExpected(this.actual.until(due), Texts.span(delay),
                    "Expected message '%s' to be due in %s, but it is due in %s:%n%s", this.message.id(),
                    Texts.span(delay), this.actual.until(due), this.actual);
        }
        return this;
    }

    /** Asserts when the message is due, to the millisecond. */
    public ScheduledMessageAssert dueAt(Instant time) {
        Instant due = due();
        if (!due.equals(time)) {
            throw failureWithActualExpected(due, time,
                    "Expected message '%s' to be due at %s, but it is due at %s:%n%s", this.message.id(), time, due,
                    this.actual);
        }
        return this;
    }

    private Instant due() {
        return Objects.requireNonNull(this.message.dueAt(), "a message that waits has a due time");
    }

    /**
     * Asserts the payload.
     * @param payload is written as JSON, and compared with the stored JSON regardless of
     * the order of properties
     */
    public ScheduledMessageAssert withPayload(Object payload) {
        if (!this.actual.isPayload(this.message.payload(), payload)) {
            String expected = this.actual.payload(payload);
            throw failureWithActualExpected(this.message.payload(), expected,
                    "Expected message '%s' to have the payload%n  %s%nbut it has%n  %s%n%s", this.message.id(),
                    expected, this.message.payload(), this.actual);
        }
        return this;
    }

}

package io.delayqueue.test;

import io.delayqueue.DeadLetter;

/**
 * Asserts the properties of one dead letter, and then those of its queue.
 *
 * @see DelayQueueTester
 */
public final class DeadLetterAssert extends AbstractQueueAssert<DeadLetterAssert> {

    private final DeadLetter deadLetter;

    DeadLetterAssert(TestQueue queue, DeadLetter deadLetter) {
        super(queue, DeadLetterAssert.class);
        this.deadLetter = deadLetter;
    }

    /**
     * Asserts that the last failure, or one of its causes, was an exception of exactly
     * this type. Dead letters hold the text of exceptions, so supertypes are not known.
     */
    public DeadLetterAssert causedBy(Class<? extends Throwable> type) {
        if (this.deadLetter.cause().lines().noneMatch((line) -> names(line, type.getName()))) {
            throw failureWithActualExpected(this.deadLetter.reason(), type.getName(),
                    "Expected the dead letter of message '%s' to be caused by %s, but the cause is%n  %s%n%s",
                    this.deadLetter.messageId(), type.getName(), this.deadLetter.reason(), this.actual);
        }
        return this;
    }

    private static boolean names(String line, String type) {
        String exception = line.startsWith("Caused by: ") ? line.substring("Caused by: ".length()) : line;
        return exception.equals(type) || exception.startsWith(type + ":");
    }

    /** Asserts a part of the cause, which includes the stack trace. */
    public DeadLetterAssert causedBy(String text) {
        if (!this.deadLetter.cause().contains(text)) {
            throw failureWithActualExpected(this.deadLetter.reason(), text,
                    "Expected the cause of the dead letter of message '%s' to contain%n  %s%nbut it is%n  %s%n%s",
                    this.deadLetter.messageId(), text, this.deadLetter.reason(), this.actual);
        }
        return this;
    }

    /** Asserts the number of failed attempts. */
    public DeadLetterAssert withFailures(int count) {
        if (this.deadLetter.failures() != count) {
            throw failureWithActualExpected(this.deadLetter.failures(), count,
                    "Expected message '%s' to have failed %d times, but it failed %d times:%n%s",
                    this.deadLetter.messageId(), count, this.deadLetter.failures(), this.actual);
        }
        return this;
    }

}

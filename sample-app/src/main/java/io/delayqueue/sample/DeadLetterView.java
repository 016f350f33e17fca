package io.delayqueue.sample;

import java.time.Instant;

import io.delayqueue.DeadLetter;

/** A dead letter as shown: without its payload, and without the stack of its cause. */
record DeadLetterView(String id, String orderId, Instant deadLetteredAt, int failures, String cause) {

    static DeadLetterView of(DeadLetter deadLetter) {
        String cause = deadLetter.cause().lines().findFirst().orElse("");
        return new DeadLetterView(deadLetter.id(), deadLetter.messageId(), deadLetter.deadLetteredAt(),
                deadLetter.failures(), cause);
    }

}

package io.delayqueue.template;

import java.util.function.LongSupplier;

import io.delayqueue.store.envelope.EnvelopeCodec;

/**
 * Holds the collaborators that a received message needs to be read and settled.
 *
 * @param leases settles the message
 * @param codec reads its payload
 * @param nanoTime the monotonic clock
 * @param maxAttempts failures after which the message is dead-lettered
 */
record ReceivedMessageSupport(ReceiveLeases leases, EnvelopeCodec codec, LongSupplier nanoTime, int maxAttempts) {
}

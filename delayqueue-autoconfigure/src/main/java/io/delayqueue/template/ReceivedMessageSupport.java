package io.delayqueue.template;

import java.util.function.LongSupplier;

import io.delayqueue.store.envelope.EnvelopeCodec;

/**
 * What a received message needs to be read and settled.
 *
 * @param leases settles
 * @param codec reads
 * @param nanoTime the monotonic clock
 * @param maxAttempts failures after which the message is dead
 */
record ReceivedMessageSupport(ReceiveLeases leases, EnvelopeCodec codec, LongSupplier nanoTime, int maxAttempts) {
}

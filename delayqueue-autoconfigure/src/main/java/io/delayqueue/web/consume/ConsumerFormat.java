package io.delayqueue.web.consume;

import io.delayqueue.store.envelope.EnvelopeCodec;

/**
 * Reads and writes what consumers over HTTP are handed.
 *
 * @param codec reads stored messages
 * @param tokens signs the tokens of their leases, and verifies them
 */
public record ConsumerFormat(EnvelopeCodec codec, LeaseTokens tokens) {
}

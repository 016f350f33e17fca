package io.delayqueue.web.consume;

import io.delayqueue.store.envelope.EnvelopeCodec;

/**
 * Holds the codec and token signer for HTTP consumers.
 *
 * @param codec reads stored messages
 * @param tokens signs and verifies lease tokens
 */
public record HttpConsumerCodecs(EnvelopeCodec codec, LeaseTokenService tokens) {
}

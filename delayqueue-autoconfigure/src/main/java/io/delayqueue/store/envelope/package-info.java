/**
 * Converts payloads to and from the envelope, the bytes that a store keeps. Start at
 * {@code EnvelopeCodec}.
 */
@NullMarked
package io.delayqueue.store.envelope;

import org.jspecify.annotations.NullMarked;

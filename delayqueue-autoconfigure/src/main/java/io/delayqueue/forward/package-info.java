/**
 * Forwards due messages to brokers. Start at
 * {@link io.delayqueue.forward.ForwardingHandler}, which handles the messages of a queue
 * by forwarding them; a {@link io.delayqueue.forward.MessageForwarder} knows one broker.
 */
@NullMarked
package io.delayqueue.forward;

import org.jspecify.annotations.NullMarked;

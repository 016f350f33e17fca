package io.delayqueue.forward;

import java.time.Duration;

/** Creates the forwarders of one kind of broker. */
public interface ForwarderFactory {

    /** Returns the part of a target before the first colon, such as {@code kafka}. */
    String scheme();

    /**
     * Creates a forwarder.
     * @param destination the part of the target after the first colon
     * @throws IllegalArgumentException if the destination is not valid, or the broker is
     * not configured to confirm messages
     */
    MessageForwarder create(String destination, Options options);

    /**
     * Holds the options of a forward.
     *
     * @param queue the queue whose messages are forwarded
     * @param unconfirmed whether messages may be acknowledged without the confirmation of
     * a broker
     * @param timeout longest time to wait for a confirmation
     */
    record Options(String queue, boolean unconfirmed, Duration timeout) {
    }

}

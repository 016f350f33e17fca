package io.delayqueue.redis.wakeup;

import java.time.Duration;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Detects a subscribed connection that is open but silent: a firewall has dropped its
 * state, or the host behind it has vanished. Both ends would wait indefinitely.
 * <p>
 * Counts the beats of a timer since anything was received on the connection. After two of
 * them it requests an answer on that connection, and if there is none after two more, the
 * connection is dropped. It counts beats instead of clock time, so that a process that
 * was suspended reads the messages that arrived meanwhile before it decides.
 * <p>
 * <strong>Threads.</strong> One thread at a time calls {@code beat}; any thread reports
 * received messages.
 */
final class SubscriptionHeartbeat {

    /** A broken connection is dropped within 10 s, after two beats without an answer. */
    static final Duration PERIOD = Duration.ofSeconds(2);

    private static final Logger logger = LoggerFactory.getLogger(SubscriptionHeartbeat.class);

    private static final int REQUEST_AFTER = 2;

    private static final int DROP_AFTER = 4;

    private final MonitoredConnection connection;

    private volatile boolean received;

    private int silent;

    SubscriptionHeartbeat(MonitoredConnection connection) {
        this.connection = connection;
    }

    /** Records that something was received on the connection. */
    void received() {
        this.received = true;
    }

    /** Counts a beat, and requests an answer or drops the connection if it is time. */
    void beat() {
        if (this.received) {
            this.received = false;
            this.silent = 0;
            return;
        }
        this.silent++;
        if (this.silent == REQUEST_AFTER && !this.connection.request()) {
            this.silent = 0;
        }
        else if (this.silent >= DROP_AFTER) {
            this.silent = 0;
            this.connection.drop();
        }
    }

    /** Logs that a connection is dropped; must not be called on the client's threads. */
    static void warn() {
        logger.warn("Nothing is received on the connection that is subscribed to wake-ups, not even the answer to "
                + "a request; it is closed and opened again, meanwhile messages are found by the safety poll");
    }

    /** Requests answers on a subscribed connection, or drops it. */
    interface MonitoredConnection {

        /**
         * Sends a request whose answer comes on this connection, without waiting for it.
         * @return {@code false} if it could not be sent, so that silence proves nothing
         */
        boolean request();

        /** Closes the connection without waiting for the other end. */
        void drop();

    }

}

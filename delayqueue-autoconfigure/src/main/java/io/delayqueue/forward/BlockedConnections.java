package io.delayqueue.forward;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import com.rabbitmq.client.BlockedListener;
import org.jspecify.annotations.Nullable;

import org.springframework.amqp.rabbit.connection.Connection;
import org.springframework.amqp.rabbit.connection.ConnectionListener;

/**
 * Records the connections that RabbitMQ has blocked, as it does while it lacks memory or
 * disk space. A blocked connection still accepts messages, and delivers them all when it
 * is unblocked, so nothing should be published on it.
 * <p>
 * <strong>Threads.</strong> The threads of connections write, and any thread reads.
 */
final class BlockedConnections implements ConnectionListener {

    private final Map<com.rabbitmq.client.Connection, String> reasons = new ConcurrentHashMap<>();

    @Override
    public void onCreate(@Nullable Connection connection) {
        com.rabbitmq.client.Connection client = (connection != null) ? connection.getDelegate() : null;
        if (client == null) {
            return;
        }
        client.addBlockedListener(new BlockedListener() {

            @Override
            public void handleBlocked(@Nullable String reason) {
                BlockedConnections.this.reasons.put(client, String.valueOf(reason));
            }

            @Override
            public void handleUnblocked() {
                BlockedConnections.this.reasons.remove(client);
            }

        });
    }

    /** Returns why a connection is blocked; {@code null} if none is. */
    @Nullable String reason() {
        // A connection that is lost is not unblocked.
        this.reasons.keySet().removeIf((connection) -> !connection.isOpen());
        return this.reasons.values().stream().findFirst().orElse(null);
    }

}

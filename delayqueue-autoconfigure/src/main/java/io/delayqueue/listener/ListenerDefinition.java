package io.delayqueue.listener;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.HashSet;
import java.util.function.UnaryOperator;

import io.delayqueue.DelayedListenerErrorHandler;
import io.delayqueue.QueueName;
import io.delayqueue.listener.handler.MessageHandler;
import io.delayqueue.listener.poll.ListenerSettings;
import org.jspecify.annotations.Nullable;

/**
 * Describes a listener to register.
 *
 * @param handler called with each message, not observed yet
 * @param settings changes the settings of a queue to those of the listener
 * @param errorHandler the listener's own error handler; {@code null} for that of the
 * application
 * @param reader the payload type, which all listeners of a queue must agree on
 */
record ListenerDefinition(String id, List<QueueName> queues, MessageHandler handler,
        UnaryOperator<ListenerSettings> settings, @Nullable DelayedListenerErrorHandler errorHandler,
        PayloadTypeAgreement.Reader reader) {

    /**
     * Parses the names of a listener's queues.
     * @throws IllegalArgumentException if there is none, or one is not valid or there
     * twice
     */
    static List<QueueName> queues(List<String> names) {
        List<QueueName> queues = new ArrayList<>();
        Set<QueueName> seen = new HashSet<>();
        for (String name : names) {
            QueueName queue = new QueueName(name);
            if (!seen.add(queue)) {
                throw new IllegalArgumentException("queues must differ, but '%s' is there twice".formatted(name));
            }
            queues.add(queue);
        }
        if (queues.isEmpty()) {
            throw new IllegalArgumentException("queues must name at least one queue");
        }
        return List.copyOf(queues);
    }

    ListenerDefinition withId(String other) {
        return new ListenerDefinition(other, this.queues, this.handler, this.settings, this.errorHandler, this.reader);
    }

}

package io.delayqueue.web.http;

import java.util.Objects;

import io.delayqueue.QueueName;
import org.jspecify.annotations.Nullable;

/**
 * Holds a requested change, for the audit.
 *
 * @param principal the name of the caller
 * @param operation the operation
 * @param queue the queue; {@code null} for an operation on a node
 * @param filter the messages or dead letters; {@code null} for the queue as a whole
 */
public record AuditedOperation(String principal, String operation, @Nullable QueueName queue, @Nullable String filter) {

    /** Returns the queue of an operation that has one. */
    public QueueName requireQueue() {
        return Objects.requireNonNull(this.queue);
    }

}

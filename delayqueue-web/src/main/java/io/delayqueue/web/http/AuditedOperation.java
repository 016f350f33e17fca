package io.delayqueue.web.http;

import io.delayqueue.QueueName;
import org.jspecify.annotations.Nullable;

/**
 * Holds a requested change, for the audit.
 *
 * @param principal the name of the caller
 * @param operation the operation
 * @param queue the queue
 * @param filter the messages or dead letters; {@code null} for the queue as a whole
 */
public record AuditedOperation(String principal, String operation, QueueName queue, @Nullable String filter) {
}

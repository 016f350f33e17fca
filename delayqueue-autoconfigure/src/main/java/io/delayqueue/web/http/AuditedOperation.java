package io.delayqueue.web.http;

import io.delayqueue.QueueName;
import org.jspecify.annotations.Nullable;

/**
 * What somebody asks to have changed, for the audit.
 *
 * @param who the caller
 * @param operation what shall be done
 * @param queue the queue
 * @param filter to which messages or dead letters; {@code null} for the queue as a whole
 */
public record AuditedOperation(String who, String operation, QueueName queue, @Nullable String filter) {
}

package io.delayqueue.web.http;

import java.util.List;
import java.util.Map;

import io.delayqueue.BatchSendException;
import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayedMessage;
import io.delayqueue.NotReplicatedException;
import io.delayqueue.PayloadConversionException;
import io.delayqueue.SendResult;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.store.MessageGroupChangeException;
import io.delayqueue.store.StoreFailures;
import io.delayqueue.store.UnreadableScheduleException;
import io.delayqueue.web.http.Problem.Kind;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.StringNode;

/**
 * Translates exceptions to the {@link Problem} that the caller gets. Details of defects
 * and of requests that the store rejected go only to the log; see
 * {@link RequestFailureLog}.
 */
final class ProblemTranslator {

    private ProblemTranslator() {
    }

    static Problem of(Throwable thrown) {
        Throwable failure = StoreFailures.unwrap(thrown);
        if (failure instanceof ProblemException known) {
            return known.problem();
        }
        if (failure instanceof DelayQueueException ex && !(ex instanceof PayloadConversionException)) {
            return ofStore(ex);
        }
        return new Problem(Kind.DEFECT, "See the application log for the cause");
    }

    private static Problem ofStore(DelayQueueException failure) {
        if (failure instanceof BatchSendException batch) {
            return ofBatch(batch);
        }
        return ofCall(failure).with("effect", effect(failure))
            .with("id", failure.messageId().map(StringNode::valueOf).orElse(null));
    }

    private static Problem ofCall(DelayQueueException failure) {
        if (failure instanceof StoreUnavailableException) {
            return new Problem(Kind.STORE_UNAVAILABLE, "Retrying may help");
        }
        if (failure instanceof NotReplicatedException) {
            return new Problem(Kind.NOT_REPLICATED, "The message is stored, but a failover may lose it");
        }
        if (failure instanceof MessageGroupChangeException) {
            return new Problem(Kind.ID_IN_USE, String.valueOf(failure.getMessage()));
        }
        if (failure instanceof UnreadableScheduleException) {
            return new Problem(Kind.STORE_REFUSED, String.valueOf(failure.getMessage()));
        }
        return new Problem(Kind.STORE_REFUSED,
                "The store refused the request. See the application log for the cause; retrying does not help until "
                        + "it is fixed.");
    }

    private static StringNode effect(DelayQueueException failure) {
        return StringNode.valueOf(failure.effect().name());
    }

    private static Problem ofBatch(BatchSendException batch) {
        ArrayNode stored = JsonNodeFactory.instance.arrayNode();
        batch.stored().stream().map(SendResult::id).forEach(stored::add);
        String detail = (batch.getCause() instanceof MessageGroupChangeException change)
                ? change.getMessage() + ". Retry the others that are not stored"
                : "Retry the messages that are not stored; with ids that is safe";
        return new Problem(Kind.BATCH, detail, Map.of("effect", effect(batch), "stored", stored, "notStored",
                ids(batch.notStored()), "unknown", ids(batch.unknown())));
    }

    private static ArrayNode ids(List<DelayedMessage> messages) {
        ArrayNode ids = JsonNodeFactory.instance.arrayNode();
        messages.forEach((message) -> ids.add(message.id().orElse(null)));
        return ids;
    }

}

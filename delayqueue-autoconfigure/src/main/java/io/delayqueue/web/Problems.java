package io.delayqueue.web;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

import io.delayqueue.BatchSendException;
import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayedMessage;
import io.delayqueue.NotReplicatedException;
import io.delayqueue.PayloadConversionException;
import io.delayqueue.SendResult;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.web.Problem.Kind;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.StringNode;

/**
 * Turns what was thrown into problems. Of a defect only the log tells more than that
 * there was one.
 */
final class Problems {

    private static final Logger logger = LoggerFactory.getLogger(Problems.class);

    private Problems() {
    }

    static Problem of(Throwable thrown) {
        Throwable failure = thrown;
        while ((failure instanceof CompletionException || failure instanceof ExecutionException)
                && failure.getCause() != null) {
            failure = failure.getCause();
        }
        if (failure instanceof ProblemException known) {
            return known.problem();
        }
        if (failure instanceof IllegalArgumentException || failure instanceof PayloadConversionException) {
            return new Problem(Kind.INVALID, String.valueOf(failure.getMessage()));
        }
        if (failure instanceof DelayQueueException ex) {
            return ofStore(ex);
        }
        logger.error("A request to the API of the delay queue failed", failure);
        return new Problem(Kind.DEFECT, "The log of the application tells more");
    }

    private static Problem ofStore(DelayQueueException failure) {
        if (failure instanceof BatchSendException batch) {
            return ofBatch(batch);
        }
        if (failure instanceof StoreUnavailableException) {
            logger.warn("A request to the API of the delay queue failed: {}", failure.getMessage());
            return new Problem(Kind.STORE_UNAVAILABLE, "Trying again may help").with("effect", effect(failure));
        }
        if (failure instanceof NotReplicatedException) {
            return new Problem(Kind.NOT_REPLICATED, "It is stored, and a failover may undo that").with("effect",
                    effect(failure));
        }
        logger.error("A request to the API of the delay queue was refused by the store", failure);
        return new Problem(Kind.STORE_REFUSED, "Somebody has to mend the cause; the log of the application tells it")
            .with("effect", effect(failure));
    }

    private static StringNode effect(DelayQueueException failure) {
        return StringNode.valueOf(failure.effect().name());
    }

    private static Problem ofBatch(BatchSendException batch) {
        logger.warn("A batch sent to the API of the delay queue failed: {}", batch.getMessage());
        ArrayNode stored = JsonNodeFactory.instance.arrayNode();
        batch.stored().stream().map(SendResult::id).forEach(stored::add);
        return new Problem(Kind.BATCH, "Sending those that are not stored again, with ids, does no harm",
                Map.of("effect", effect(batch), "stored", stored, "notStored", ids(batch.notStored()), "unknown",
                        ids(batch.unknown())));
    }

    private static ArrayNode ids(List<DelayedMessage> messages) {
        ArrayNode ids = JsonNodeFactory.instance.arrayNode();
        messages.forEach((message) -> ids.add(message.id().orElse(null)));
        return ids;
    }

}

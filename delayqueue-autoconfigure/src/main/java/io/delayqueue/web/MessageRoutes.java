package io.delayqueue.web;

import java.time.Duration;
import java.time.Instant;

import io.delayqueue.CancelResult;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.QueueName;
import io.delayqueue.RescheduleResult;
import io.delayqueue.StoredMessage;
import io.delayqueue.web.Problem.Kind;

import org.springframework.http.HttpMethod;
import org.springframework.web.servlet.function.ServerResponse;

/** Finds, cancels and reschedules a message by its id. */
final class MessageRoutes {

    private final DelayQueueOperations operations;

    private final Audit audit;

    MessageRoutes(DelayQueueOperations operations, Audit audit) {
        this.operations = operations;
        this.audit = audit;
    }

    void addTo(ApiRoutes routes) {
        routes.add(HttpMethod.GET, "/queues/{queue}/message", Authority.VIEW, this::find);
        routes.add(HttpMethod.DELETE, "/queues/{queue}/message", Authority.OPERATE, this::cancel);
        routes.add(HttpMethod.PATCH, "/queues/{queue}/message", Authority.OPERATE, this::reschedule);
    }

    private ServerResponse find(ApiRequest request) {
        request.onlyQuery("id");
        StoredMessage message = this.operations.find(request.queue().value(), request.id())
            .orElseThrow(() -> notFound(request));
        return Answer.json(Views.message(message, request.permits(Authority.PAYLOAD)));
    }

    private ServerResponse cancel(ApiRequest request) {
        request.onlyQuery("id");
        QueueName queue = request.queue();
        CancelResult result = this.operations.cancel(queue.value(), request.id());
        this.audit.tell(request.who(), "cancel", queue, request.id(), (result == CancelResult.NOT_FOUND) ? 0 : 1);
        if (result == CancelResult.NOT_FOUND) {
            throw notFound(request);
        }
        return Answer.json(Views.object().put("result", result.name()));
    }

    private ServerResponse reschedule(ApiRequest request) {
        request.onlyQuery("id");
        QueueName queue = request.queue();
        Fields body = request.body("delayMillis", "dueAt");
        Instant dueAt = body.instant("dueAt");
        if ((dueAt != null) == (body.value("delayMillis") != null)) {
            throw ProblemException.invalid("Field 'delayMillis' or 'dueAt' is needed, and only one of them");
        }
        RescheduleResult result = (dueAt != null) ? this.operations.reschedule(queue.value(), request.id(), dueAt)
                : this.operations.reschedule(queue.value(), request.id(),
                        body.millis("delayMillis", Duration.ZERO, Duration.ZERO, request.settings().maxDelay()));
        this.audit.tell(request.who(), "reschedule", queue, request.id(),
                (result == RescheduleResult.RESCHEDULED) ? 1 : 0);
        return switch (result) {
            case RESCHEDULED -> Answer.json(Views.object().put("result", result.name()));
            case LEASED -> throw new ProblemException(
                    new Problem(Kind.LEASED, "Message '%s' keeps its due time".formatted(request.id())));
            case NOT_FOUND -> throw notFound(request);
        };
    }

    private static ProblemException notFound(ApiRequest request) {
        return new ProblemException(new Problem(Kind.NOT_FOUND,
                "Queue '%s' does not hold message '%s', or not any more".formatted(request.queue(), request.id())));
    }

}

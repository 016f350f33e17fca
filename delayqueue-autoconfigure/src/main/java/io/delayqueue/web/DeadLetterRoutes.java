package io.delayqueue.web;

import io.delayqueue.DeadLetterOperations;
import io.delayqueue.DeadLetterPage;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.QueueName;
import io.delayqueue.RedriveResult;
import io.delayqueue.web.Problem.Kind;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

import org.springframework.http.HttpMethod;
import org.springframework.web.servlet.function.ServerResponse;

/** Lists, redrives and purges dead letters. */
final class DeadLetterRoutes {

    private static final int MAX_LETTER_ID = 256;

    private final DelayQueueOperations operations;

    private final Audit audit;

    DeadLetterRoutes(DelayQueueOperations operations, Audit audit) {
        this.operations = operations;
        this.audit = audit;
    }

    void addTo(ApiRoutes routes) {
        routes.add(HttpMethod.GET, "/queues/{queue}/dead-letters", Authority.VIEW, this::list);
        routes.add(HttpMethod.POST, "/queues/{queue}/dead-letters/redrive", Authority.OPERATE, this::redrive);
        routes.add(HttpMethod.POST, "/queues/{queue}/dead-letters/purge", Authority.OPERATE, this::purge);
    }

    private ServerResponse list(ApiRequest request) {
        request.onlyQuery("cursor", "limit");
        DeadLetterPage page = letters(request).list(request.query("cursor"), request.limit());
        boolean open = request.permits(Authority.PAYLOAD);
        ObjectNode json = Views.object();
        ArrayNode array = json.putArray("letters");
        page.letters().forEach((letter) -> array.add(Views.letter(letter, open)));
        return Answer.json(json.put("nextCursor", page.nextCursor()));
    }

    private ServerResponse redrive(ApiRequest request) {
        request.onlyQuery();
        QueueName queue = request.queue();
        String letterId = request.body("letterId").text("letterId", MAX_LETTER_ID);
        RedriveResult result = letters(request).redrive(letterId);
        this.audit.tell(request.who(), "redrive", queue, letterId, (result == RedriveResult.REDRIVEN) ? 1 : 0);
        return switch (result) {
            case REDRIVEN -> Answer.json(Views.object().put("count", 1));
            case ID_IN_USE -> throw new ProblemException(
                    new Problem(Kind.ID_IN_USE, "The dead letter stays; try again once that message is done"));
            case EMPTY -> throw new ProblemException(
                    new Problem(Kind.EMPTY_LETTER, "Its content was missing; it can only be purged"));
            case NOT_FOUND -> throw notFound(queue);
        };
    }

    private ServerResponse purge(ApiRequest request) {
        request.onlyQuery();
        QueueName queue = request.queue();
        String letterId = request.body("letterId").text("letterId", MAX_LETTER_ID);
        boolean purged = letters(request).purge(letterId);
        this.audit.tell(request.who(), "purge", queue, letterId, purged ? 1 : 0);
        if (!purged) {
            throw notFound(queue);
        }
        return Answer.json(Views.object().put("count", 1));
    }

    private DeadLetterOperations letters(ApiRequest request) {
        return this.operations.deadLetters(request.queue().value());
    }

    private static ProblemException notFound(QueueName queue) {
        return new ProblemException(
                new Problem(Kind.NOT_FOUND, "Queue '%s' has no dead letter of that name".formatted(queue)));
    }

}

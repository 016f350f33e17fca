package io.delayqueue.web.api;

import java.time.Instant;

import io.delayqueue.MessageLimits;
import io.delayqueue.QueueName;
import io.delayqueue.journal.JournalOperations;
import io.delayqueue.journal.RestorePlan;
import io.delayqueue.journal.RestoreRefusedException;
import io.delayqueue.journal.RestoreStep;
import io.delayqueue.web.http.ApiViews;
import io.delayqueue.web.http.ApiRequest;
import io.delayqueue.web.http.RouteTable;
import io.delayqueue.web.http.AuditPublisher;
import io.delayqueue.web.http.Authority;
import io.delayqueue.web.http.Json;
import io.delayqueue.web.http.JsonObjectReader;
import io.delayqueue.web.http.Problem;
import io.delayqueue.web.http.Problem.Kind;
import io.delayqueue.web.http.ProblemException;
import io.delayqueue.web.http.Responses;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.StringNode;

import org.springframework.http.HttpMethod;
import org.springframework.web.servlet.function.ServerResponse;

/**
 * Restores the messages of a queue that Redis has lost, or counts them, step by step. Any
 * node may take the next step.
 */
public final class RestoreRoutes {

    private final @Nullable JournalOperations journal;

    private final AuditPublisher audit;

    /**
     * Creates the routes.
     * @param journal restores messages; {@code null} if this application has no journal
     * @param audit publishes restores
     */
    public RestoreRoutes(@Nullable JournalOperations journal, AuditPublisher audit) {
        this.journal = journal;
        this.audit = audit;
    }

    public void addTo(RouteTable routes) {
        routes.add(HttpMethod.POST, "/queues/{queue}/restore", Authority.OPERATE, this::restore);
    }

    private ServerResponse restore(ApiRequest request) {
        request.onlyQuery();
        QueueName queue = request.queue();
        JsonObjectReader body = request.body("dryRun", "id", "dueBefore", "includeExpired", "rate", "cursor");
        RestorePlan plan = plan(queue, body);
        String cursor = cursor(body);
        JournalOperations ledger = this.journal;
        if (ledger == null || !ledger.covers(queue.value())) {
            throw new ProblemException(new Problem(Kind.NOT_FOUND,
                    "Queue '%s' is not in mode 'ledger' in this application (delayqueue.journal.mode)"
                        .formatted(queue)));
        }
        if (plan.dryRun()) {
            return answer(step(ledger, plan, cursor));
        }
        return answer(this.audit.of(request.change("restore", text(plan, cursor)), () -> step(ledger, plan, cursor),
                (done) -> done.report().restored()));
    }

    private static RestoreStep step(JournalOperations ledger, RestorePlan plan, @Nullable String cursor) {
        try {
            return ProblemException.valid(() -> ledger.restore(plan, cursor));
        }
        catch (RestoreRefusedException ex) {
            Problem problem = new Problem(Kind.STORE_REFUSED, String.valueOf(ex.getMessage())).with("effect",
                    StringNode.valueOf(ex.effect().name()));
            throw new ProblemException(problem, ex);
        }
    }

    private static RestorePlan plan(QueueName queue, JsonObjectReader body) {
        String id = body.text("id");
        Instant dueBefore = body.instant("dueBefore");
        Integer rate = body.integer("rate");
        return ProblemException
            .valid(() -> new RestorePlan(queue.value(), (id != null) ? MessageLimits.requireId(id) : null,
                    (dueBefore != null) ? MessageLimits.requireDueAt(dueBefore) : null, body.flag("includeExpired"),
                    (rate != null) ? rate : 0, body.flag("dryRun")));
    }

    /** Returns the cursor in a body, of limited length because the audit repeats it. */
    private static @Nullable String cursor(JsonObjectReader body) {
        String cursor = body.text("cursor");
        if (cursor != null && cursor.length() > DeadLetterRoutes.MAX_CURSOR) {
            throw ProblemException.invalid("Field 'cursor' is not valid: use the nextCursor of the step before");
        }
        return cursor;
    }

    private static ServerResponse answer(RestoreStep step) {
        return Responses.json(ApiViews.object()
            .put("restored", step.report().restored())
            .put("known", step.report().known())
            .put("skipped", step.report().skipped())
            .put("failed", step.report().failed())
            .put("nextCursor", step.nextCursor()));
    }

    /** Formats the plan for the audit, without absent fields. */
    private static @Nullable String text(RestorePlan plan, @Nullable String cursor) {
        return Json.ascii(ApiViews.object()
            .put("id", plan.id())
            .put("dueBefore", ApiViews.time(plan.dueBefore()))
            .put("includeExpired", plan.includeExpired() ? Boolean.TRUE : null)
            .put("rate", (plan.rate() > 0) ? plan.rate() : null)
            .put("cursor", cursor)
            .removeNulls());
    }

}

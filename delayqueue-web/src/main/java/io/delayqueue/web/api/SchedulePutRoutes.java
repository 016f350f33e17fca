package io.delayqueue.web.api;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.ZoneId;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.MisfirePolicy;
import io.delayqueue.OverlapPolicy;
import io.delayqueue.PayloadConversionException;
import io.delayqueue.PayloadTooLargeException;
import io.delayqueue.ScheduleDefinition;
import io.delayqueue.SchedulePutResult;
import io.delayqueue.UnknownQueueException;
import io.delayqueue.admin.AuditedOperationEvent.Outcome;
import io.delayqueue.web.http.ApiRequest;
import io.delayqueue.web.http.ApiViews;
import io.delayqueue.web.http.AuditPublisher;
import io.delayqueue.web.http.Authority;
import io.delayqueue.web.http.Json;
import io.delayqueue.web.http.JsonObjectReader;
import io.delayqueue.web.http.Problem;
import io.delayqueue.web.http.Problem.Kind;
import io.delayqueue.web.http.ProblemException;
import io.delayqueue.web.http.Responses;
import io.delayqueue.web.http.RouteTable;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.POJONode;

import org.springframework.http.HttpMethod;
import org.springframework.web.servlet.function.ServerResponse;
import org.springframework.web.util.UriUtils;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * Puts schedules. Requires the authority to send, because a schedule sends messages whose
 * payload the caller chooses.
 */
final class SchedulePutRoutes {

    private static final String[] FIELDS = { "cron", "fixedRateMillis", "zone", "payload", "misfire", "catchUpLimit",
            "overlap", "timeToLiveMillis", "jitterMillis", "priority" };

    private final DelayQueueOperations operations;

    private final AuditPublisher audit;

    SchedulePutRoutes(DelayQueueOperations operations, AuditPublisher audit) {
        this.operations = operations;
        this.audit = audit;
    }

    void addTo(RouteTable routes) {
        routes.add(HttpMethod.PUT, "/queues/{queue}/schedules/by-name", Authority.SEND, this::put);
    }

    private ServerResponse put(ApiRequest request) {
        request.onlyQuery("name");
        String name = ProblemException.valid(() -> ScheduleDefinition.requireName(request.required("name")));
        request.queue();
        JsonObjectReader fields = request.body(FIELDS);
        ScheduleDefinition definition = ProblemException
            .valid(() -> definition(name, fields, request.settings().maxDelay()));
        SchedulePutResult result = put(request, definition);
        ObjectNode json = ApiViews.object().put("result", result.name());
        return (result == SchedulePutResult.CREATED)
                ? Responses.created("by-name?name=" + UriUtils.encode(name, UTF_8), json) : Responses.json(json);
    }

    /**
     * Puts and audits. A replacement is audited separately, because the replaced
     * definition may be another sender's.
     */
    private SchedulePutResult put(ApiRequest request, ScheduleDefinition definition) {
        String name = definition.name();
        SchedulePutResult result;
        try {
            result = this.operations.schedules(request.queue().value()).put(definition);
        }
        catch (PayloadTooLargeException | PayloadConversionException ex) {
            throw ProblemException.invalid(String.valueOf(ex.getMessage()));
        }
        catch (UnknownQueueException ex) {
            // Its message may name other queues, which the caller need not know.
            throw ProblemException.invalid("Queue '%s' is not known to the application".formatted(ex.queue()));
        }
        catch (IllegalArgumentException ex) {
            throw new ProblemException(new Problem(Kind.SCHEDULE_DECLARED, String.valueOf(ex.getMessage())));
        }
        catch (RuntimeException ex) {
            this.audit.failed(request.change("put-schedule", name), ex);
            throw ex;
        }
        this.audit.publish(
                request.change((result == SchedulePutResult.REPLACED) ? "replace-schedule" : "put-schedule", name),
                (result == SchedulePutResult.UNCHANGED) ? 0 : 1, Outcome.DONE);
        return result;
    }

    private static ScheduleDefinition definition(String name, JsonObjectReader fields, Duration maxDelay) {
        ScheduleDefinition.Builder builder = times(name, fields).misfire(fields.choice("misfire", MisfirePolicy.ONCE))
            .overlap(fields.choice("overlap", OverlapPolicy.ALLOW))
            .jitter(fields.millis("jitterMillis", Duration.ZERO, Duration.ZERO, maxDelay));
        JsonNode payload = fields.value("payload");
        if (payload != null) {
            // Pass the raw text, so that the application's mapper does not rewrite it.
            builder.payload(((POJONode) payload).getPojo());
        }
        Integer catchUpLimit = fields.integer("catchUpLimit");
        if (catchUpLimit != null) {
            builder.catchUpLimit(catchUpLimit);
        }
        Duration timeToLive = fields.millis("timeToLiveMillis");
        if (timeToLive != null) {
            builder.timeToLive(timeToLive);
        }
        Integer priority = fields.integer("priority");
        if (priority != null) {
            builder.priority(priority);
        }
        return builder.build();
    }

    private static ScheduleDefinition.Builder times(String name, JsonObjectReader fields) {
        String cron = fields.text("cron");
        Duration rate = fields.millis("fixedRateMillis");
        if ((cron == null) == (rate == null)) {
            throw ProblemException.invalid("Fields 'cron' and 'fixedRateMillis' are %s there; use one of them"
                .formatted((cron == null) ? "both not" : "both"));
        }
        ScheduleDefinition.Builder builder = (cron != null) ? ScheduleDefinition.cron(name, cron)
                : ScheduleDefinition.fixedRate(name, rate);
        ZoneId zone = zone(fields.text("zone"));
        return (zone != null) ? builder.zone(zone) : builder;
    }

    private static @Nullable ZoneId zone(@Nullable String text) {
        try {
            return (text != null) ? ZoneId.of(text) : null;
        }
        catch (DateTimeException ex) {
            throw ProblemException.invalid("Field 'zone' is not valid: use a time zone such as Europe/Berlin, not %s"
                .formatted(Json.quoted(String.valueOf(text))));
        }
    }

}

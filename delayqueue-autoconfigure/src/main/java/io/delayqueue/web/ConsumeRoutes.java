package io.delayqueue.web;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

import io.delayqueue.AuditedOperationEvent;
import io.delayqueue.AuditedOperationEvent.Outcome;
import io.delayqueue.MessageLimits;
import io.delayqueue.QueueName;
import io.delayqueue.engine.ConsumedQueues;
import io.delayqueue.engine.Lease;
import io.delayqueue.web.Problem.Kind;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

import org.springframework.http.HttpMethod;
import org.springframework.web.servlet.function.ServerResponse;

/** Hands messages out, and settles them for whoever holds their tokens. */
final class ConsumeRoutes {

    private static final int MAX_TOKEN = 256;

    private static final int MAX_REASON = 4000;

    private static final Duration SHORTEST_LEASE = Duration.ofSeconds(1);

    /** What the store may take longer than a claim may wait. */
    private static final Duration MARGIN = Duration.ofMinutes(2);

    private final LongPolls polls;

    private final Settlements settlements;

    private final Function<QueueName, ConsumeSettings> settings;

    private final Audit audit;

    private final ConsumedQueues consumed;

    ConsumeRoutes(Consumers consumers, ConsumedQueues consumed) {
        this.consumed = consumed;
        this.polls = consumers.polls();
        this.settlements = consumers.settlements();
        this.settings = consumers.settings();
        this.audit = new Audit(consumers.herald()::tell);
    }

    void addTo(ApiRoutes routes) {
        add(routes, "claim", this::claim);
        add(routes, "acknowledge", this::acknowledge);
        add(routes, "acknowledge-all", this::acknowledgeAll);
        add(routes, "extend", this::extend);
        add(routes, "retry", this::retry);
        add(routes, "release", this::release);
        add(routes, "dead-letter", this::deadLetter);
    }

    private static void add(ApiRoutes routes, String operation, ApiRoute.Handler handler) {
        routes.add(HttpMethod.POST, "/queues/{queue}/leases/" + operation, Authority.CONSUME, handler);
    }

    private ServerResponse claim(ApiRequest request) {
        request.onlyQuery();
        QueueName queue = request.queue();
        Fields body = request.body("max", "leaseMillis", "waitMillis");
        Integer asked = body.integer("max");
        int most = request.settings().maxBatch();
        int max = (asked != null) ? asked : 1;
        if (max < 1 || max > most) {
            throw ProblemException.invalid("Field 'max' is not valid: use 1 to %d, not %d".formatted(most, max));
        }
        Duration lease = body.millis("leaseMillis", this.settings.apply(queue).lease(), SHORTEST_LEASE,
                request.settings().maxLease());
        Duration wait = body.millis("waitMillis", Duration.ZERO, Duration.ZERO, request.settings().maxWait());
        Change change = request.change("claim", null);
        if (!request.servlet().isAsyncSupported()) {
            throw new IllegalStateException("A filter or servlet of the application does not support asynchronous "
                    + "requests: nothing can be claimed over HTTP");
        }
        this.consumed.note(queue);
        CompletableFuture<List<TakenMessage>> claim = this.polls.claim(queue, max, lease, wait);
        claim.whenComplete((messages, failure) -> {
            if (failure != null) {
                this.audit.failed(change, failure);
            }
        });
        HandOver handOver = HandOver.of(request.servlet(), claim, this.polls.claimer()::giveBack);
        return Answer.later(
                claim.thenApply((messages) -> messages.isEmpty() ? Answer.json(claimed(messages))
                        : handOver.answer(messages, this::claimed, (outcome) -> this.audit.tell(change,
                                (outcome == Outcome.DONE) ? messages.size() : AuditedOperationEvent.UNKNOWN, outcome))),
                wait.plus(MARGIN));
    }

    /** Leaves out what was leased for so short that it is over by now. */
    private ObjectNode claimed(List<TakenMessage> messages) {
        long now = this.polls.claimer().now();
        ObjectNode json = Views.object();
        ArrayNode array = json.putArray("messages");
        messages.stream()
            .filter((message) -> message.left(now).toMillis() > 0)
            .forEach((message) -> array.add(message.toJson(now)));
        return json;
    }

    private ServerResponse acknowledge(ApiRequest request) {
        LeaseToken token = token(request, request.body("id", "token"));
        return settle(request, "acknowledge", token,
                this.settlements.acknowledge(List.of(token.lease())).thenApply((all) -> all.get(0)));
    }

    /** Answers for each place of the list, also if a lease stands in it twice. */
    private ServerResponse acknowledgeAll(ApiRequest request) {
        request.onlyQuery();
        QueueName queue = request.queue();
        List<Lease> asked = request.body("leases")
            .objects("leases", request.settings().maxBatch(), Set.of("id", "token"))
            .stream()
            .map((fields) -> token(queue, fields).lease())
            .toList();
        return Answer.later(this.audit
            .of(request.change("acknowledge", null), this.settlements.acknowledgeAll(asked),
                    (results) -> results.values().stream().filter(Boolean::booleanValue).count())
            .thenApply((results) -> {
                ObjectNode json = Views.object();
                ArrayNode array = json.putArray("results");
                asked.forEach((lease) -> array
                    .add(Views.object().put("id", lease.id()).put("acknowledged", results.getOrDefault(lease, false))));
                return Answer.json(json);
            }), MARGIN);
    }

    private ServerResponse extend(ApiRequest request) {
        Fields body = request.body("id", "token", "leaseMillis");
        LeaseToken token = token(request, body);
        Duration lease = body.millis("leaseMillis", this.settings.apply(request.queue()).lease(), SHORTEST_LEASE,
                request.settings().maxLease());
        return settle(request, "extend", token, this.settlements.extend(token.lease(), lease));
    }

    private ServerResponse release(ApiRequest request) {
        Fields body = request.body("id", "token", "delayMillis");
        LeaseToken token = token(request, body);
        Duration delay = body.millis("delayMillis", Duration.ZERO, Duration.ZERO, request.settings().maxDelay());
        return settle(request, "release", token, this.settlements.release(token.lease(), delay));
    }

    private ServerResponse retry(ApiRequest request) {
        Fields body = request.body("id", "token", "delayMillis", "failure");
        LeaseToken token = token(request, body);
        String failure = body.text("failure", MAX_REASON);
        ConsumeSettings queue = this.settings.apply(request.queue());
        Duration delay = body.millis("delayMillis", queue.backoff().apply(token.failures() + 1), Duration.ZERO,
                request.settings().maxDelay());
        boolean last = token.failures() + 1 >= queue.maxAttempts();
        return settle(request, "retry", token, last ? this.settlements.deadLetter(token, failure, true)
                : this.settlements.retry(token.lease(), delay, failure));
    }

    private ServerResponse deadLetter(ApiRequest request) {
        Fields body = request.body("id", "token", "reason");
        LeaseToken token = token(request, body);
        String reason = body.text("reason", MAX_REASON);
        return settle(request, "dead-letter", token, this.settlements.deadLetter(token, reason, false));
    }

    private static LeaseToken token(ApiRequest request, Fields body) {
        request.onlyQuery();
        return token(request.queue(), body);
    }

    private static LeaseToken token(QueueName queue, Fields fields) {
        String id = MessageLimits.requireId(fields.text("id", MessageLimits.MAX_ID_LENGTH));
        return LeaseToken.parse(queue, id, fields.text("token", MAX_TOKEN));
    }

    private ServerResponse settle(ApiRequest request, String operation, LeaseToken token,
            CompletableFuture<Boolean> answer) {
        Lease lease = token.lease();
        CompletableFuture<Boolean> audited = this.audit.of(request.change(operation, lease.id()), answer,
                (done) -> done ? 1 : 0);
        return Answer.later(audited.thenApply((done) -> {
            if (!done) {
                throw new ProblemException(new Problem(Kind.LEASE_LOST,
                        ("The lease of message '%s' ran out, or was settled before, for instance by this very call made "
                                + "earlier; this call changed nothing")
                            .formatted(lease.id())));
            }
            return Answer.done();
        }), MARGIN);
    }

}

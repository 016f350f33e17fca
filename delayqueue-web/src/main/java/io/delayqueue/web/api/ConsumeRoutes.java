package io.delayqueue.web.api;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;

import io.delayqueue.MessageLimits;
import io.delayqueue.QueueName;
import io.delayqueue.admin.AuditedOperationEvent;
import io.delayqueue.admin.AuditedOperationEvent.Outcome;
import io.delayqueue.consume.ConsumeSettings;
import io.delayqueue.consume.LeaseSettler;
import io.delayqueue.store.Lease;
import io.delayqueue.store.RemoteConsumerQueues;
import io.delayqueue.store.StoreFailures;
import io.delayqueue.store.StoreFutures;
import io.delayqueue.web.consume.ClaimResponseWriter;
import io.delayqueue.web.consume.ClaimedHttpMessage;
import io.delayqueue.web.consume.HttpConsumerServices;
import io.delayqueue.web.consume.IdempotentLeaseSettler;
import io.delayqueue.web.consume.LeaseToken;
import io.delayqueue.web.consume.LeaseTokenService;
import io.delayqueue.web.consume.LongPolling;
import io.delayqueue.web.consume.SettlementResult;
import io.delayqueue.web.http.ApiViews;
import io.delayqueue.web.http.ApiRequest;
import io.delayqueue.web.http.ApiRoute;
import io.delayqueue.web.http.RouteTable;
import io.delayqueue.web.http.AuditPublisher;
import io.delayqueue.web.http.AuditedOperation;
import io.delayqueue.web.http.Authority;
import io.delayqueue.web.http.JsonObjectReader;
import io.delayqueue.web.http.Problem;
import io.delayqueue.web.http.Problem.Kind;
import io.delayqueue.web.http.ProblemException;
import io.delayqueue.web.http.Responses;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

import org.springframework.http.HttpMethod;
import org.springframework.web.servlet.function.ServerResponse;

/** Claims messages over HTTP, and settles them by their lease tokens. */
final class ConsumeRoutes {

    private static final int MAX_TOKEN = 256;

    private static final int MAX_REASON = 4000;

    private static final Duration MIN_LEASE = Duration.ofSeconds(1);

    /** Time that the store may take beyond the wait of a claim. */
    private static final Duration MARGIN = Duration.ofMinutes(2);

    private final LongPolling polls;

    private final IdempotentLeaseSettler settlements;

    private final LeaseSettler leases;

    private final LeaseTokenService tokens;

    private final Function<QueueName, ConsumeSettings> settings;

    private final AuditPublisher audit;

    private final RemoteConsumerQueues consumed;

    ConsumeRoutes(HttpConsumerServices consumers, RemoteConsumerQueues consumed) {
        this.consumed = consumed;
        this.polls = consumers.polls();
        this.settlements = consumers.settlements();
        this.leases = this.settlements.settler();
        this.tokens = consumers.tokens();
        this.settings = consumers.settings();
        this.audit = new AuditPublisher(consumers.publisher()::publish);
    }

    void addTo(RouteTable routes) {
        routes.add(HttpMethod.POST, "/queues/{queue}/claims", Authority.CONSUME, this::claim);
        add(routes, "acknowledge", this::acknowledge);
        add(routes, "acknowledge/batch", this::acknowledgeAll);
        add(routes, "extend", this::extend);
        add(routes, "retry", this::retry);
        add(routes, "release", this::release);
        add(routes, "dead-letter", this::deadLetter);
    }

    private static void add(RouteTable routes, String operation, ApiRoute.Handler handler) {
        routes.add(HttpMethod.POST, "/queues/{queue}/leases/" + operation, Authority.CONSUME, handler);
    }

    private ServerResponse claim(ApiRequest request) {
        request.onlyQuery();
        QueueName queue = request.queue();
        JsonObjectReader body = request.body("max", "leaseMillis", "waitMillis");
        Integer requested = body.integer("max");
        int most = request.settings().maxBatch();
        int max = (requested != null) ? requested : 1;
        if (max < 1 || max > most) {
            throw ProblemException.invalid("Field 'max' is not valid: use 1 to %d, not %d".formatted(most, max));
        }
        Duration lease = body.millis("leaseMillis", this.settings.apply(queue).lease(), MIN_LEASE,
                request.settings().maxLease());
        Duration wait = body.millis("waitMillis", Duration.ZERO, Duration.ZERO, request.settings().maxWait());
        AuditedOperation change = request.change("claim", null);
        if (!request.servlet().isAsyncSupported()) {
            throw new IllegalStateException("A filter or servlet of the application does not support asynchronous "
                    + "requests: nothing can be claimed over HTTP");
        }
        this.consumed.record(queue);
        CompletableFuture<List<ClaimedHttpMessage>> claim = this.polls.claim(queue, max, lease, wait);
        claim.whenComplete((messages, failure) -> {
            if (failure != null) {
                this.audit.failed(change, failure);
            }
        });
        ClaimResponseWriter writer = ClaimResponseWriter.of(request.servlet(), claim, this.polls::releaseUnseen,
                request::failed);
        return Responses.later(
                claim.thenApply((messages) -> messages.isEmpty() ? Responses.json(claimed(messages))
                        : writer.answer(messages, this::claimed, (outcome) -> this.audit.publish(change,
                                (outcome == Outcome.DONE) ? messages.size() : AuditedOperationEvent.UNKNOWN, outcome))),
                wait.plus(MARGIN), request::failed);
    }

    /** Leaves out messages whose lease ran out in the meantime. */
    private ObjectNode claimed(List<ClaimedHttpMessage> messages) {
        long now = this.polls.now();
        ObjectNode json = ApiViews.object();
        ArrayNode array = json.putArray("messages");
        messages.stream()
            .filter((message) -> message.left(now).toMillis() > 0)
            .forEach((message) -> array.add(message.toJson(now)));
        return json;
    }

    private ServerResponse acknowledge(ApiRequest request) {
        return settle(request, "acknowledge", request.body("id", "token"),
                (token) -> this.leases.acknowledge(token.lease()).thenApply(SettlementResult::of));
    }

    /** Returns a result for each entry, even if a lease is listed twice. */
    private ServerResponse acknowledgeAll(ApiRequest request) {
        request.onlyQuery();
        AuditedOperation change = request.change("acknowledge", null);
        List<JsonObjectReader> requested = request.body("leases")
            .objects("leases", request.settings().maxBatch(), Set.of("id", "token"));
        return Responses.later(verifiedOrLost(change, requested).thenCompose((tokens) -> {
            List<Lease> leases = tokens.stream().flatMap(Optional::stream).map(LeaseToken::lease).toList();
            CompletableFuture<Map<Lease, Boolean>> settled = leases.isEmpty()
                    ? CompletableFuture.completedFuture(Map.of())
                    : this.audit.of(change, this.leases.acknowledgeAll(leases),
                            (results) -> results.values().stream().filter(Boolean::booleanValue).count());
            return settled.thenApply((results) -> Responses.json(acknowledged(requested, tokens, results)));
        }), MARGIN, request::failed);
    }

    private static ObjectNode acknowledged(List<JsonObjectReader> requested, List<Optional<LeaseToken>> tokens,
            Map<Lease, Boolean> results) {
        ObjectNode json = ApiViews.object();
        ArrayNode array = json.putArray("results");
        for (int i = 0; i < requested.size(); i++) {
            boolean acknowledged = tokens.get(i)
                .map((token) -> results.getOrDefault(token.lease(), false))
                .orElse(false);
            array.add(ApiViews.object().put("id", id(requested.get(i))).put("acknowledged", acknowledged));
        }
        return json;
    }

    /** Verifies like {@link #verified}, but returns empty for each lost lease. */
    private CompletableFuture<List<Optional<LeaseToken>>> verifiedOrLost(AuditedOperation change,
            List<JsonObjectReader> leases) {
        List<CompletableFuture<Optional<LeaseToken>>> tokens = leases.stream()
            .map((lease) -> this.tokens.verified(change.requireQueue(), id(lease), lease.text("token", MAX_TOKEN))
                .handle(ConsumeRoutes::unlessLost))
            .toList();
        return StoreFutures.all(tokens).whenComplete((all, failure) -> {
            if (failure != null) {
                unverified(change, failure);
                this.audit.failed(change, failure);
            }
            else if (all.stream().anyMatch(Optional::isEmpty)) {
                this.audit.publish(change, 0, Outcome.FAILED);
            }
        });
    }

    private static Optional<LeaseToken> unlessLost(@Nullable LeaseToken token, @Nullable Throwable failure) {
        if (failure == null) {
            return Optional.ofNullable(token);
        }
        Throwable cause = StoreFailures.unwrap(failure);
        if (cause instanceof ProblemException problem && problem.problem().kind() == Kind.LEASE_LOST) {
            return Optional.empty();
        }
        throw new CompletionException(cause);
    }

    private ServerResponse extend(ApiRequest request) {
        JsonObjectReader body = request.body("id", "token", "leaseMillis");
        Duration lease = body.millis("leaseMillis", this.settings.apply(request.queue()).lease(), MIN_LEASE,
                request.settings().maxLease());
        return settle(request, "extend", body,
                (token) -> this.leases.extend(token.lease(), lease).thenApply(SettlementResult::of));
    }

    private ServerResponse release(ApiRequest request) {
        JsonObjectReader body = request.body("id", "token", "delayMillis");
        Duration delay = body.millis("delayMillis", Duration.ZERO, Duration.ZERO, request.settings().maxDelay());
        return settle(request, "release", body, (token) -> this.settlements.release(token.lease(), delay));
    }

    private ServerResponse retry(ApiRequest request) {
        JsonObjectReader body = request.body("id", "token", "delayMillis", "failure");
        String failure = body.text("failure", MAX_REASON);
        ConsumeSettings queue = this.settings.apply(request.queue());
        Duration requested = body.millis("delayMillis", Duration.ZERO, request.settings().maxDelay());
        return settle(request, "retry", body, (token) -> {
            int failures = token.failures() + 1;
            Duration delay = (requested != null) ? requested : queue.backoff().apply(failures);
            return (failures >= queue.maxAttempts()) ? this.settlements.deadLetter(token, failure, true)
                    : this.settlements.retry(token.lease(), delay, failure);
        });
    }

    private ServerResponse deadLetter(ApiRequest request) {
        JsonObjectReader body = request.body("id", "token", "reason");
        String reason = body.text("reason", MAX_REASON);
        return settle(request, "dead-letter", body, (token) -> this.settlements.deadLetter(token, reason, false));
    }

    /** Settles the lease in a body after verifying its token. */
    private ServerResponse settle(ApiRequest request, String operation, JsonObjectReader body,
            Function<LeaseToken, CompletableFuture<SettlementResult>> settling) {
        request.onlyQuery();
        String id = id(body);
        AuditedOperation change = request.change(operation, id);
        return Responses.later(verified(change, List.of(body)).thenCompose((tokens) -> settling.apply(tokens.get(0)))
            .whenComplete((settled, failure) -> publish(change, settled, failure))
            .thenApply((settled) -> {
                if (settled == SettlementResult.REJECTED) {
                    throw new ProblemException(new Problem(Kind.LEASE_LOST,
                            ("The lease of message '%s' has lapsed or was settled before, possibly by an earlier attempt of this call; "
                                    + "this call changed nothing")
                                .formatted(id)));
                }
                return Responses.done();
            }), MARGIN, request::failed);
    }

    /** Publishes a settlement, unless a call that has settled the lease is repeated. */
    private void publish(AuditedOperation change, @Nullable SettlementResult settled, @Nullable Throwable failure) {
        if (failure != null) {
            this.audit.failed(change, failure);
        }
        else if (settled != SettlementResult.REPEATED) {
            this.audit.publish(change, (settled == SettlementResult.DONE) ? 1 : 0, Outcome.DONE);
        }
    }

    /** Verifies the tokens of all leases; fails if one does not verify. */
    private CompletableFuture<List<LeaseToken>> verified(AuditedOperation change, List<JsonObjectReader> leases) {
        List<CompletableFuture<LeaseToken>> tokens = leases.stream()
            .map((lease) -> this.tokens.verified(change.requireQueue(), id(lease), lease.text("token", MAX_TOKEN)))
            .toList();
        return StoreFutures.all(tokens).whenComplete((all, failure) -> {
            if (failure != null) {
                unverified(change, failure);
            }
        });
    }

    /** Audits a token that does not verify, because it may be an attack. */
    private void unverified(AuditedOperation change, Throwable failure) {
        if (failure.getCause() instanceof ProblemException) {
            this.audit.publish(change, 0, Outcome.FAILED);
        }
    }

    private static String id(JsonObjectReader fields) {
        String id = fields.text("id", MessageLimits.MAX_ID_LENGTH);
        return ProblemException.valid(() -> MessageLimits.requireId(id));
    }

}

package io.delayqueue.observation;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.micrometer.observation.Observation;
import io.micrometer.tracing.Link;
import io.micrometer.tracing.Span;
import io.micrometer.tracing.Tracer;
import io.micrometer.tracing.handler.PropagatingReceiverTracingObservationHandler;
import io.micrometer.tracing.propagation.Propagator;

/**
 * Makes the span of a handler a child of the span of the send or, if the send was long
 * ago, starts a new trace with a link to the send: trace collectors expect the spans of a
 * trace within minutes, and a request that sends a reminder for next week does not last a
 * week. The span of a batch has links to the sends of all its messages. Links need the
 * W3C header {@code traceparent}.
 */
public final class LinkingTracingObservationHandler
        extends PropagatingReceiverTracingObservationHandler<HandleObservationContext> {

    /** Version, trace, parent, flags; later versions keep these fields. */
    private static final Pattern TRACEPARENT = Pattern
        .compile("[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2}).*");

    private final Duration longest;

    /**
     * Creates a handler.
     * @param longest maximum time from the send to the handler for a child span
     */
    public LinkingTracingObservationHandler(Tracer tracer, Propagator propagator, Duration longest) {
        super(tracer, propagator);
        this.longest = longest;
    }

    @Override
    public boolean supportsContext(Observation.Context context) {
        return context instanceof HandleObservationContext;
    }

    @Override
    public Span.Builder customizeExtractedSpan(HandleObservationContext context, Span.Builder builder) {
        if (context.deliveries().size() > 1) {
            Span.Builder linked = newTrace();
            sends(context).forEach(linked::addLink);
            return linked;
        }
        Duration age = context.age();
        if (age == null || age.compareTo(this.longest) <= 0) {
            return builder;
        }
        return sends(context).stream().findFirst().map((send) -> newTrace().addLink(send)).orElse(builder);
    }

    private Span.Builder newTrace() {
        return getTracer().spanBuilder().setNoParent().kind(Span.Kind.CONSUMER);
    }

    /** Returns links to the spans of the sends, each once. */
    private List<Link> sends(HandleObservationContext context) {
        return context.headers()
            .stream()
            .map((headers) -> TRACEPARENT.matcher(headers.getOrDefault("traceparent", "")))
            .filter(Matcher::matches)
            .map(Matcher::toMatchResult)
            .collect(Collectors.toMap((parent) -> parent.group(2), this::link, (one, other) -> one, LinkedHashMap::new))
            .values()
            .stream()
            .toList();
    }

    private Link link(MatchResult parent) {
        return new Link(getTracer().traceContextBuilder()
            .traceId(parent.group(1))
            .spanId(parent.group(2))
            .sampled((Integer.parseInt(parent.group(3), 16) & 1) == 1)
            .build());
    }

}

package io.delayqueue.observation;

import java.time.Duration;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.micrometer.observation.Observation;
import io.micrometer.tracing.Link;
import io.micrometer.tracing.Span;
import io.micrometer.tracing.TraceContext;
import io.micrometer.tracing.Tracer;
import io.micrometer.tracing.handler.PropagatingReceiverTracingObservationHandler;
import io.micrometer.tracing.propagation.Propagator;

/**
 * Makes the span of a handler a child of the span of the send or, if the send was long
 * ago, starts a new trace with a link to the send: trace collectors expect the spans of a
 * trace within minutes, and a request that sends a reminder for next week does not last a
 * week. The link needs the W3C header {@code traceparent}.
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
        Duration age = context.age();
        Map<String, String> headers = context.getCarrier();
        if (age == null || age.compareTo(this.longest) <= 0 || headers == null) {
            return builder;
        }
        Matcher parent = TRACEPARENT.matcher(headers.getOrDefault("traceparent", ""));
        if (!parent.matches()) {
            return builder;
        }
        TraceContext send = getTracer().traceContextBuilder()
            .traceId(parent.group(1))
            .spanId(parent.group(2))
            .sampled((Integer.parseInt(parent.group(3), 16) & 1) == 1)
            .build();
        return getTracer().spanBuilder().setNoParent().kind(Span.Kind.CONSUMER).addLink(new Link(send));
    }

}

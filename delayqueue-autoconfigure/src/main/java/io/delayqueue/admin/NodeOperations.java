package io.delayqueue.admin;

import java.time.Duration;
import java.util.Optional;

import org.jspecify.annotations.Nullable;

/**
 * Changes what listeners of one node do, at run time. A change is stored beside the
 * reports of the node, which takes it with its next one, within six seconds; its report
 * then shows what is in force. A restarted process begins with its configuration. A node
 * that cannot report keeps its overrides until their times; once it reports again after
 * more than 20 seconds, they end. Calls block; they can be repeated.
 * <p>
 * Pauses a listener of one node for an hour: <pre class="code">
 * nodes.override(node, new NodeOperations.OverrideRequest("orders", "order-timeout", null, true, "ann", Duration.ofHours(1)));
 * </pre>
 */
public interface NodeOperations {

    /** Maximum concurrency of an override, as of a configured one. */
    int MAX_CONCURRENCY = 10_000;

    /** Maximum number of overrides of a node. */
    int MAX_OVERRIDES = 50;

    /** The longest time that an override applies. */
    Duration MAX_DURATION = Duration.ofDays(1);

    /** Time without a report after which a node is considered gone. */
    Duration GONE_AFTER = Duration.ofSeconds(20);

    /** How long requested stacks are kept. */
    Duration STACKS_KEPT = Duration.ofMinutes(2);

    /** Returns what is wanted of a node; empty if the node is gone. */
    Optional<WantedNodeState> wanted(String node);

    /**
     * Overrides the configuration of a listener for one queue. Fields that the request
     * leaves out stay as they are, and so do overrides for other queues and listeners,
     * even if two operators make changes at the same time. The concurrency and the pause
     * have one end together, that of the latest request. A request that ends the pause
     * ends the override too if that has no concurrency. If the concurrency is less than
     * the number of running handlers, these continue.
     * @param node the id of the node
     * @param request the override
     * @return the override; empty if the node is gone
     * @throws IllegalArgumentException if the node has too many overrides
     */
    Optional<ListenerOverride> override(String node, OverrideRequest request);

    /**
     * Ends an override, so that the configuration applies again.
     * @return whether there was one; empty if the node is gone
     */
    Optional<Boolean> withdraw(String node, String listener, String queue);

    /**
     * Requests the stacks of the overdue handlers of a node.
     * @param by the name of the operator
     * @return the request; empty if the node is gone
     */
    Optional<WantedNodeState.StackRequest> requestStacks(String node, String by);

    /** Returns the stacks that a node took last; empty if there are none now. */
    Optional<HandlerStacks> stacks(String node);

    /**
     * Requests an override.
     *
     * @param listener the id of the listener
     * @param queue the queue
     * @param concurrency 1 to {@link #MAX_CONCURRENCY}; {@code null} to keep the
     * overridden one, if there is one
     * @param paused {@code true} if the listener claims no message of the queue,
     * {@code false} to end a pause, {@code null} to keep one, if there is one
     * @param by the name of the operator
     * @param duration how long it applies, at most {@link #MAX_DURATION}
     */
    record OverrideRequest(String listener, String queue, @Nullable Integer concurrency, @Nullable Boolean paused,
            String by, Duration duration) {

        public OverrideRequest {
            if (concurrency != null && (concurrency < 1 || concurrency > MAX_CONCURRENCY)) {
                throw new IllegalArgumentException(
                        "Concurrency %d is not valid: use 1 to %d".formatted(concurrency, MAX_CONCURRENCY));
            }
            if (concurrency == null && paused == null) {
                throw new IllegalArgumentException("The override changes nothing: set the concurrency, or pause");
            }
            if (duration.compareTo(Duration.ofSeconds(1)) < 0 || duration.compareTo(MAX_DURATION) > 0) {
                throw new IllegalArgumentException(
                        "Duration %s is not valid: use 1 s to %d h".formatted(duration, MAX_DURATION.toHours()));
            }
        }

    }

}

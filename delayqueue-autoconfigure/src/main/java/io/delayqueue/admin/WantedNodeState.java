package io.delayqueue.admin;

import java.time.Instant;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Holds what operators want of a node. The node takes it with its next report.
 *
 * @param overrides the overrides of its listeners, at most one for each queue of a
 * listener
 * @param stackRequest the last request for stacks; {@code null} for none
 * @see NodeOperations#wanted
 */
public record WantedNodeState(List<ListenerOverride> overrides, @Nullable StackRequest stackRequest) {

    /** The state of a node of which nothing is wanted. */
    public static final WantedNodeState NONE = new WantedNodeState(List.of(), null);

    public WantedNodeState {
        overrides = List.copyOf(overrides);
    }

    /**
     * Requests the stacks of overdue handlers.
     *
     * @param by the name of the operator
     * @param at when they were requested, on the store's clock
     * @param until when the request ends, and the stacks are removed
     */
    public record StackRequest(String by, Instant at, Instant until) {
    }

}

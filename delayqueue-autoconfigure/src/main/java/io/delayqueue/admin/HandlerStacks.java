package io.delayqueue.admin;

import java.time.Instant;
import java.util.List;

import io.delayqueue.admin.NodeStatus.RunningHandler;

/**
 * Holds the stack frames of the overdue handlers of a node, taken when an operator
 * requested them.
 *
 * @param requestedAt when they were requested
 * @param takenAt when the node took them
 * @param until when they are removed
 * @param stacks of each overdue handler, the one that runs longest first; as many as fit
 * @see NodeOperations#stacks
 */
public record HandlerStacks(Instant requestedAt, Instant takenAt, Instant until, List<HandlerStack> stacks) {

    public HandlerStacks {
        stacks = List.copyOf(stacks);
    }

    /**
     * Holds the stack of a handler.
     *
     * @param handler the handler
     * @param frames the innermost frames up to the handler's method, the innermost first;
     * empty if the handler has returned: its future is pending, or its messages are being
     * settled
     */
    public record HandlerStack(RunningHandler handler, List<String> frames) {

        public HandlerStack {
            frames = List.copyOf(frames);
        }

    }

}

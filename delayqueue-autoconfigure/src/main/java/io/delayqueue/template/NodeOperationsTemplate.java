package io.delayqueue.template;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.admin.HandlerStacks;
import io.delayqueue.admin.ListenerOverride;
import io.delayqueue.admin.NodeOperations;
import io.delayqueue.admin.WantedNodeState;
import io.delayqueue.admin.WantedNodeState.StackRequest;
import io.delayqueue.store.HandlerStacksCodec;
import io.delayqueue.store.NodeRegistry;
import io.delayqueue.store.NodeRegistry.NodeEntry;
import io.delayqueue.store.WantedStateCodec;

/**
 * Changes the wanted state of nodes: reads it, and replaces it unless another change came
 * first; then it reads it again. Blocks the caller's thread. Thread-safe.
 */
public final class NodeOperationsTemplate implements NodeOperations {

    /** More changes of one node at the same time would be no work of people. */
    private static final int MAX_TRIES = 20;

    private static final String OPERATION = "a change of a node";

    private final NodeRegistry nodes;

    private final BlockingStoreCalls calls;

    /**
     * Creates the operations.
     * @param waitLimit longest time to wait for the answer of one call
     */
    public NodeOperationsTemplate(NodeRegistry nodes, Duration waitLimit) {
        this.nodes = nodes;
        this.calls = new BlockingStoreCalls(waitLimit);
    }

    @Override
    public Optional<WantedNodeState> wanted(String node) {
        NodeEntry entry = this.calls.await(this.nodes.wanted(node), "wanted");
        return entry.alive() ? Optional.of(WantedStateCodec.read(entry.content(), entry.now())) : Optional.empty();
    }

    @Override
    public Optional<ListenerOverride> override(String node, OverrideRequest request) {
        return change(node, (before, now) -> {
            ListenerOverride override = merged(before, request, now);
            List<ListenerOverride> overrides = without(before, request.listener(), request.queue());
            if (override.paused() || override.concurrency() != null) {
                overrides.add(override);
            }
            if (overrides.size() > MAX_OVERRIDES) {
                throw new IllegalArgumentException(
                        "Node '%s' has %d overrides already: withdraw some".formatted(node, MAX_OVERRIDES));
            }
            return new Change<>(new WantedNodeState(overrides, before.stackRequest()), override);
        });
    }

    @Override
    public Optional<Boolean> withdraw(String node, String listener, String queue) {
        return change(node, (before, now) -> {
            List<ListenerOverride> overrides = without(before, listener, queue);
            return new Change<>(new WantedNodeState(overrides, before.stackRequest()),
                    overrides.size() < before.overrides().size());
        });
    }

    /** Keeps the fields that the request leaves out. */
    private static ListenerOverride merged(WantedNodeState before, OverrideRequest request, Instant now) {
        Integer concurrency = request.concurrency();
        Boolean paused = request.paused();
        for (ListenerOverride one : before.overrides()) {
            if (one.listener().equals(request.listener()) && one.queue().equals(request.queue())) {
                concurrency = (concurrency != null) ? concurrency : one.concurrency();
                paused = (paused != null) ? paused : Boolean.valueOf(one.paused());
            }
        }
        return new ListenerOverride(request.listener(), request.queue(), concurrency, paused != null && paused,
                request.by(), now, now.plus(request.duration()));
    }

    private static List<ListenerOverride> without(WantedNodeState state, String listener, String queue) {
        List<ListenerOverride> overrides = new ArrayList<>(state.overrides());
        overrides.removeIf((one) -> one.listener().equals(listener) && one.queue().equals(queue));
        return overrides;
    }

    @Override
    public Optional<StackRequest> requestStacks(String node, String by) {
        return change(node, (before, now) -> {
            StackRequest request = new StackRequest(by, now, now.plus(STACKS_KEPT));
            return new Change<>(new WantedNodeState(before.overrides(), request), request);
        });
    }

    @Override
    public Optional<HandlerStacks> stacks(String node) {
        NodeEntry entry = this.calls.await(this.nodes.stacks(node), "stacks");
        return HandlerStacksCodec.read(entry.content(), entry.now());
    }

    /** Makes a change to the latest state, so that none of another operator is lost. */
    private <T> Optional<T> change(String node, BiFunction<WantedNodeState, Instant, Change<T>> changer) {
        NodeEntry before = this.calls.await(this.nodes.wanted(node), OPERATION);
        for (int i = 0; i < MAX_TRIES && before.alive(); i++) {
            Change<T> change = changer.apply(WantedStateCodec.read(before.content(), before.now()), before.now());
            byte[] wanted = written(change.state());
            NodeEntry after = this.calls.await(this.nodes.change(node, before.content(), wanted), OPERATION);
            if (after.alive() && Arrays.equals(after.content(), wanted)) {
                return Optional.of(change.result());
            }
            before = after;
        }
        if (before.alive()) {
            throw new StoreUnavailableException(
                    "Node '%s' was not changed: others changed it %d times meanwhile".formatted(node, MAX_TRIES),
                    Effect.NONE, null);
        }
        return Optional.empty();
    }

    private static byte[] written(WantedNodeState state) {
        byte[] wanted = WantedStateCodec.write(state);
        if (wanted.length > WantedStateCodec.MAX_LENGTH) {
            throw new IllegalArgumentException("The overrides of the node take %d bytes, and %d are allowed"
                .formatted(wanted.length, WantedStateCodec.MAX_LENGTH));
        }
        return wanted;
    }

    /** Holds a new state, and the result for the caller. */
    private record Change<T>(WantedNodeState state, T result) {
    }

}

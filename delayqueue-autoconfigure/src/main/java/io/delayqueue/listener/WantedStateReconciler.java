package io.delayqueue.listener;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import io.delayqueue.admin.HandlerStacks;
import io.delayqueue.admin.ListenerOverride;
import io.delayqueue.admin.WantedNodeState;
import io.delayqueue.admin.WantedNodeState.StackRequest;
import io.delayqueue.listener.poll.HandlerMonitor;
import io.delayqueue.store.HandlerStacksCodec;
import io.delayqueue.store.NodeRegistry;
import io.delayqueue.store.NodeRegistry.NodeEntry;
import io.delayqueue.store.StoreFutures;
import io.delayqueue.store.WantedStateCodec;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Applies what operators want of this node: overrides of listeners, and requests for
 * stacks of overdue handlers. While the store does not answer, overrides apply until
 * their times, which this process counts from the answer that brought them.
 * <p>
 * <strong>Threads.</strong> Any; its lock guards the fields, and is held while listeners
 * are changed, which does not block.
 */
final class WantedStateReconciler {

    private static final Logger logger = LoggerFactory.getLogger(WantedStateReconciler.class);

    private final NodeRegistry registry;

    private final String node;

    private final Supplier<Collection<ListenerContainer>> listeners;

    private final LongSupplier nanoTime;

    /** The overrides in force, each with its end on the clock of this process. */
    private Map<ListenerOverride, Long> inForce = Map.of();

    /**
     * The overrides applied last to each listener; one that is registered again has none.
     */
    private final Map<ListenerContainer, List<ListenerOverride>> applied = new WeakHashMap<>();

    /** Whether the node has stopped: then answers to earlier reports change nothing. */
    private boolean ended;

    /** The last request whose stacks were taken. */
    private @Nullable StackRequest served;

    /**
     * When the stored stacks are to be removed; {@code null} once they are, or if there
     * are none.
     */
    private @Nullable Long stacksEnd;

    WantedStateReconciler(NodeRegistry registry, String node, Supplier<Collection<ListenerContainer>> listeners,
            LongSupplier nanoTime) {
        this.registry = registry;
        this.node = node;
        this.listeners = listeners;
        this.nanoTime = nanoTime;
    }

    /** Begins to apply, as the node starts. */
    synchronized void begin() {
        this.ended = false;
    }

    /**
     * Applies the state that came with the answer to a report.
     * @return whether that has changed a listener
     */
    boolean reconcile(NodeEntry answer, HandlerMonitor handlers) {
        WantedNodeState wanted = WantedStateCodec.read(answer.content(), answer.now());
        StackRequest request = wanted.stackRequest();
        if (request != null) {
            takeStacks(request, answer.now(), handlers);
        }
        Map<ListenerOverride, Long> next = new HashMap<>();
        long now = this.nanoTime.getAsLong();
        wanted.overrides()
            .forEach(
                    (override) -> next.put(override, now + Duration.between(answer.now(), override.until()).toNanos()));
        return apply(next, handlers);
    }

    /**
     * Ends what has reached its time, and applies the rest to listeners that were
     * registered since. Called with each report, also in an outage.
     */
    void endExpired(HandlerMonitor handlers) {
        long now = this.nanoTime.getAsLong();
        Long over;
        synchronized (this) {
            Map<ListenerOverride, Long> next = new HashMap<>(this.inForce);
            next.values().removeIf((end) -> end - now <= 0);
            apply(next, handlers);
            over = isOver(now) ? this.stacksEnd : null;
        }
        if (over != null) {
            removeStacks(over);
        }
    }

    private boolean isOver(long now) {
        return this.stacksEnd != null && this.stacksEnd - now <= 0;
    }

    private void removeStacks(Long over) {
        StoreFutures.send(() -> this.registry.putStacks(this.node, new byte[0])).whenComplete((done, failure) -> {
            if (failure != null) {
                logger.debug("Cannot remove the stacks of overdue handlers; the next report retries", failure);
            }
            else {
                stacksRemoved(over);
            }
        });
    }

    private synchronized void stacksRemoved(Long over) {
        // A request that was made meanwhile has another end.
        if (over.equals(this.stacksEnd)) {
            this.stacksEnd = null;
        }
    }

    /** Ends all overrides, and applies none until the node begins again. */
    synchronized void end() {
        apply(Map.of(), null);
        this.ended = true;
        this.served = null;
        this.stacksEnd = null;
    }

    private synchronized boolean apply(Map<ListenerOverride, Long> next, @Nullable HandlerMonitor handlers) {
        if (this.ended) {
            return false;
        }
        this.inForce = next;
        boolean changed = false;
        for (ListenerContainer listener : this.listeners.get()) {
            List<ListenerOverride> after = of(listener, next);
            if (!after.equals(this.applied.getOrDefault(listener, List.of()))) {
                listener.override(after);
                this.applied.put(listener, after);
                changed = true;
                if (handlers != null) {
                    handlers.log(() -> logger.info("Listener '{}' follows other overrides of operators now: {}",
                            listener.id(), describe(after)));
                }
            }
        }
        return changed;
    }

    private static List<ListenerOverride> of(ListenerContainer listener, Map<ListenerOverride, Long> overrides) {
        return overrides.keySet()
            .stream()
            .filter((override) -> override.listener().equals(listener.id()))
            .sorted((one, other) -> one.queue().compareTo(other.queue()))
            .toList();
    }

    private static String describe(List<ListenerOverride> overrides) {
        return overrides.isEmpty() ? "none, so its configuration applies"
                : overrides.stream()
                    .map((override) -> "%s queue '%s' with concurrency %s until %s, requested by '%s'".formatted(
                            override.paused() ? "paused" : "running", override.queue(),
                            (override.concurrency() != null) ? override.concurrency() : "as configured",
                            override.until(), override.by()))
                    .collect(Collectors.joining("; "));
    }

    /** Takes the stacks that a request asks for, once. */
    private void takeStacks(StackRequest request, Instant now, HandlerMonitor handlers) {
        synchronized (this) {
            if (this.ended || request.equals(this.served)) {
                return;
            }
            this.served = request;
            this.stacksEnd = this.nanoTime.getAsLong() + Duration.between(now, request.until()).toNanos();
        }
        try {
            handlers.execute(() -> putStacks(request, now, handlers));
        }
        catch (RuntimeException | OutOfMemoryError ex) {
            logger.debug("No thread to take the stacks of overdue handlers; the next report retries", ex);
            notServed();
        }
    }

    private void putStacks(StackRequest request, Instant now, HandlerMonitor handlers) {
        byte[] stacks = HandlerStacksCodec
            .write(new HandlerStacks(request.at(), now, request.until(), new ArrayList<>(handlers.overdueStacks())));
        if (!isServed(request)) {
            return; // they would be stored after their removal
        }
        StoreFutures.send(() -> this.registry.putStacks(this.node, stacks)).whenComplete((done, failure) -> {
            if (failure != null) {
                logger.debug("Cannot store the stacks of overdue handlers; the next report retries", failure);
                notServed();
            }
        });
    }

    /** Returns whether the request is the last one, and its time has not passed. */
    private synchronized boolean isServed(StackRequest request) {
        return request.equals(this.served) && !isOver(this.nanoTime.getAsLong());
    }

    private synchronized void notServed() {
        this.served = null;
    }

}

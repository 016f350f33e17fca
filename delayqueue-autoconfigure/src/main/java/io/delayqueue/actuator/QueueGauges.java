package io.delayqueue.actuator;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.ToDoubleFunction;

import io.delayqueue.QueueName;
import io.delayqueue.admin.QueueOverview;
import io.delayqueue.listener.DelayedListenerLifecycle;
import io.delayqueue.listener.DelayedListenerRegistry;
import io.delayqueue.listener.ListenerContainer;
import io.delayqueue.listener.handler.HandlerOutage;
import io.delayqueue.listener.poll.PollLoopStatus;
import io.delayqueue.store.RemoteConsumerQueues;
import io.micrometer.core.instrument.MeterRegistry;
import org.jspecify.annotations.Nullable;

import org.springframework.context.SmartLifecycle;

/**
 * Registers gauges of the queues that this node listens to, or that are consumed through
 * it: on start, when a later listener is registered, and at the first claim. Removes them
 * with the last listener of a queue.
 * <p>
 * <strong>Threads.</strong> The life-cycle thread, those that read meters, and those that
 * consume.
 */
public final class QueueGauges implements SmartLifecycle {

    private static final List<DelayQueueMeter> OF_QUEUES = List.of(DelayQueueMeter.SCHEDULED, DelayQueueMeter.DUE,
            DelayQueueMeter.LEASED, DelayQueueMeter.DEAD, DelayQueueMeter.OLDEST_DUE, DelayQueueMeter.PAUSED);

    private final MeterRegistry meters;

    private final DelayedListenerRegistry listeners;

    private final StatisticsCache statistics;

    private final DelayedListenerLifecycle worker;

    private final RemoteConsumerQueues consumed;

    /** Queues whose gauges are registered. */
    private final Set<QueueName> done = ConcurrentHashMap.newKeySet();

    private final AtomicBoolean bound = new AtomicBoolean();

    private volatile boolean running;

    public QueueGauges(MeterRegistry meters, DelayedListenerRegistry listeners, StatisticsCache statistics,
            DelayedListenerLifecycle worker, RemoteConsumerQueues consumed) {
        this.meters = meters;
        this.listeners = listeners;
        this.statistics = statistics;
        this.worker = worker;
        this.consumed = consumed;
    }

    @Override
    public void start() {
        this.running = true;
        if (!this.bound.compareAndSet(false, true)) {
            return;
        }
        DelayQueueMeter.CLOCK_JUMPS.counter(this.worker, DelayedListenerLifecycle::clockJumps).register(this.meters);
        this.listeners.onRegistration(this::bind);
        this.listeners.onRemoval(this::unbind);
        this.consumed.onFirst(this::bindOnce);
        this.statistics.refresh();
    }

    private void bind(ListenerContainer listener) {
        for (String queue : listener.queues()) {
            bindOnce(new QueueName(queue));
            DelayQueueMeter.AVAILABLE_HANDLERS.gauge(queue, listener, (it) -> freeHandlers(it, queue))
                .tag(DelayQueueMeter.LISTENER, listener.id())
                .register(this.meters);
            DelayQueueMeter.HANDLERS_OUTAGE.gauge(queue, listener, QueueGauges::outage)
                .tag(DelayQueueMeter.LISTENER, listener.id())
                .register(this.meters);
            DelayQueueMeter.SUBSCRIBED.gauge(queue, listener, (it) -> subscribed(it, queue))
                .tag(DelayQueueMeter.LISTENER, listener.id())
                .register(this.meters);
        }
    }

    /**
     * Removes the gauges of a listener, and those of queues that only it has listened to.
     */
    private void unbind(ListenerContainer listener) {
        for (String name : listener.queues()) {
            DelayQueueMeter.removeOfListener(this.meters, name, listener.id());
            QueueName queue = new QueueName(name);
            if (!this.listeners.handles(queue) && !this.consumed.all().contains(queue) && this.done.remove(queue)) {
                OF_QUEUES.forEach((meter) -> meter.removeOf(this.meters, name));
            }
        }
    }

    private double subscribed(ListenerContainer listener, String queue) {
        if (!listener.isRunning()) {
            return Double.NaN;
        }
        boolean all = listener.loops()
            .stream()
            .map(PollLoopStatus::partition)
            .filter((partition) -> partition.queue().value().equals(queue))
            .allMatch(this.worker::isSubscribed);
        return all ? 1 : 0;
    }

    private static double outage(ListenerContainer listener) {
        HandlerOutage outage = listener.outage();
        return listener.isRunning() ? seconds((outage != null) ? outage.age() : null) : Double.NaN;
    }

    /** Returns NaN for a stopped listener, because 0 would mean busy. */
    private static double freeHandlers(ListenerContainer listener, String queue) {
        return listener.isRunning() ? listener.freeHandlers().getOrDefault(queue, 0) : Double.NaN;
    }

    private void bindOnce(QueueName queue) {
        if (this.done.add(queue)) {
            bind(queue);
        }
    }

    private void bind(QueueName queue) {
        bind(DelayQueueMeter.SCHEDULED, queue, QueueOverview::scheduled);
        bind(DelayQueueMeter.DUE, queue, QueueOverview::due);
        bind(DelayQueueMeter.LEASED, queue, QueueOverview::leased);
        bind(DelayQueueMeter.DEAD, queue, QueueOverview::dead);
        bind(DelayQueueMeter.OLDEST_DUE, queue, (known) -> seconds(known.oldestDue()));
        bind(DelayQueueMeter.PAUSED, queue, (known) -> known.paused() ? 1 : 0);
    }

    private static double seconds(@Nullable Duration span) {
        return (span != null) ? span.toMillis() / 1000.0 : 0;
    }

    private void bind(DelayQueueMeter name, QueueName queue, ToDoubleFunction<QueueOverview> value) {
        name.gauge(queue.value(), this.statistics, (known) -> {
            QueueOverview latest = known.of(queue);
            return (latest != null) ? value.applyAsDouble(latest) : Double.NaN;
        }).register(this.meters);
    }

    @Override
    public void stop() {
        this.running = false;
    }

    @Override
    public boolean isRunning() {
        return this.running;
    }

}

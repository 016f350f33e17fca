package io.delayqueue.actuator;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import java.util.function.Supplier;

import io.delayqueue.QueueName;
import io.delayqueue.admin.QueueOverview;
import io.delayqueue.listener.DelayedListenerRegistry;
import io.delayqueue.listener.ListenerContainer;
import io.delayqueue.listener.handler.HandlerOutage;
import io.delayqueue.listener.poll.PollLoopStatus;
import io.delayqueue.store.Partition;
import io.delayqueue.store.Texts;

import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/**
 * Reports whether the store answers for the queues of this node, whether the poll loops
 * run and receive wake-ups, whether the brokers and databases that handlers need are
 * available, and whether messages are handled in time. Down if any of these fails; the
 * details describe problem and consequence. Does not wait for a store that hangs: recent
 * counts are used for a while.
 */
public class DelayQueueHealthIndicator extends AbstractHealthIndicator {

    /**
     * Limits the age of counts, however rarely meters are read, to report no past outage.
     */
    static final Duration MAX_AGE = Duration.ofSeconds(10);

    /** Outages of brokers and databases that are shorter do not change the status. */
    private static final Duration OUTAGE_TOLERANCE = Duration.ofSeconds(10);

    private static final String AWAY = "The store does not answer, so nothing is sent and nothing handled";

    private final StatisticsCache statistics;

    private final DelayedListenerRegistry listeners;

    private final Predicate<Partition> subscribed;

    private final HealthSettings settings;

    private final Supplier<Map<String, QueueOverview>> unconsumed;

    /**
     * Creates an indicator.
     * @param subscribed whether the wake-ups of a partition are received
     * @param unconsumed known queues that are due and have no consumer, by name; shown as
     * a detail, without effect on the status
     */
    public DelayQueueHealthIndicator(StatisticsCache statistics, DelayedListenerRegistry listeners,
            Predicate<Partition> subscribed, HealthSettings settings, Supplier<Map<String, QueueOverview>> unconsumed) {
        super("Health of the delay queue cannot be determined");
        this.statistics = statistics;
        this.listeners = listeners;
        this.subscribed = subscribed;
        this.settings = settings;
        this.unconsumed = unconsumed;
    }

    @Override
    protected void doHealthCheck(Health.Builder builder) throws InterruptedException {
        List<String> problems = new ArrayList<>();
        long begun = System.nanoTime();
        CompletableFuture<?> answer = this.statistics.reach();
        CompletableFuture<Map<QueueName, QueueOverview>> queues = this.statistics.refresh(MAX_AGE);
        if (isReached(answer, problems)) {
            builder.withDetail("queues", queues(known(queues, begun), problems));
        }
        Map<String, String> states = new LinkedHashMap<>();
        this.listeners.listeners().forEach((listener) -> states.put(listener.id(), stateOf(listener, problems)));
        builder.withDetail("listeners", states);
        Map<String, String> unconsumed = new TreeMap<>();
        this.unconsumed.get().forEach((name, queue) -> unconsumed.put(name, due(queue)));
        if (!unconsumed.isEmpty()) {
            builder.withDetail("withoutConsumer", unconsumed);
        }
        if (problems.isEmpty()) {
            builder.up();
        }
        else {
            builder.down().withDetail("problems", problems);
        }
    }

    /** Accepts a store that has not answered yet if it answered recently. */
    private boolean isReached(CompletableFuture<?> answer, List<String> problems) throws InterruptedException {
        try {
            answer.get(this.settings.limit().toMillis(), TimeUnit.MILLISECONDS);
            return true;
        }
        catch (ExecutionException ex) {
            problems.add(AWAY + ": " + ((ex.getCause() != null) ? ex.getCause() : ex));
            return false;
        }
        catch (TimeoutException ex) {
            Duration silence = this.statistics.silence();
            if (silence != null && silence.compareTo(this.settings.maxSilence()) <= 0) {
                return true;
            }
            Throwable failure = this.statistics.lastFailure();
            problems.add("%s: %s%s".formatted(AWAY,
                    (silence != null) ? "there was no answer for " + Texts.span(silence) : "there was no answer yet",
                    (failure != null) ? ", and the last failure was " + failure : ""));
            return false;
        }
    }

    private Map<QueueName, QueueOverview> known(CompletableFuture<Map<QueueName, QueueOverview>> queues, long begun)
            throws InterruptedException {
        try {
            long left = this.settings.limit().toNanos() - (System.nanoTime() - begun);
            return queues.get(Math.max(0, left), TimeUnit.NANOSECONDS);
        }
        catch (ExecutionException | TimeoutException ex) {
            return this.statistics.known(this.settings.maxSilence());
        }
    }

    private Map<String, String> queues(Map<QueueName, QueueOverview> known, List<String> problems) {
        Map<String, String> states = new LinkedHashMap<>();
        for (ListenerContainer listener : this.listeners.listeners()) {
            for (String queue : listener.queues()) {
                QueueOverview overview = known.get(new QueueName(queue));
                if (states.containsKey(queue)) {
                    continue;
                }
                if (overview != null) {
                    states.put(queue, stateOf(overview, problems));
                }
                else if (listener.isRunning()) {
                    states.put(queue, "unknown");
                    if (this.statistics.isQueried(new QueueName(queue))) {
                        problems
                            .add(("The store does not answer for queue '%s', so its messages are not handled; other "
                                    + "queues may be well")
                                .formatted(queue));
                    }
                }
            }
        }
        return states;
    }

    private String stateOf(QueueOverview queue, List<String> problems) {
        Duration oldest = queue.oldestDue();
        Duration most = this.settings.maxDueAge();
        if (queue.paused()) {
            return "paused, %d due".formatted(queue.due());
        }
        if (oldest != null && most != null && oldest.compareTo(most) > 0) {
            problems.add("Queue '%s' is behind: %d due, the oldest for %s (delayqueue.health.max-due-age is %s). %s"
                .formatted(queue.queue(), queue.due(), Texts.span(oldest), Texts.span(most),
                        hasOutage(queue.queue()) ? "Its handlers wait for another system"
                                : "Handlers are too few or too slow, or the queue has no listener"));
        }
        return due(queue);
    }

    private static String due(QueueOverview queue) {
        Duration oldest = queue.oldestDue();
        return (oldest != null) ? "%d due, the oldest for %s".formatted(queue.due(), Texts.span(oldest))
                : "nothing due";
    }

    private boolean hasOutage(String queue) {
        return this.listeners.listeners()
            .stream()
            .anyMatch((listener) -> listener.queues().contains(queue) && listener.outage() != null);
    }

    private String stateOf(ListenerContainer listener, List<String> problems) {
        for (PollLoopStatus loop : listener.loops()) {
            if (!loop.isAlive()) {
                problems.add("Listener '%s' has not polled queue '%s' for %s: its messages are not handled here"
                    .formatted(listener.id(), loop.partition(), Texts.span(loop.sinceLastIteration())));
            }
            if (!this.subscribed.test(loop.partition())) {
                problems.add(
                        ("Listener '%s' receives no wake-ups of queue '%s': its messages are found by the safety poll, "
                                + "up to %s late")
                            .formatted(listener.id(), loop.partition(), Texts.span(loop.safetyPoll())));
            }
        }
        if (!listener.isRunning()) {
            return "stopped";
        }
        HandlerOutage outage = listener.outage();
        if (outage != null && outage.age().compareTo(OUTAGE_TOLERANCE) > 0) {
            problems.add("%s for %s: %s".formatted(outage.text(), Texts.span(outage.age()), outage.cause()));
        }
        return listener.isPaused() ? "paused" : (outage != null) ? "waits for another system" : "running";
    }

}

package io.delayqueue.actuator;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

import io.delayqueue.QueueName;
import io.delayqueue.store.MessageEventRecorder;
import io.delayqueue.store.MessageEventRecorderFactory;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import org.jspecify.annotations.Nullable;

/**
 * Counts and times events, by meters that are looked up once per queue. Queues with a
 * listener on this node always have their own meters. A limited number of other queues
 * have too; the rest share one set, because senders may make up any number of names.
 * Thread-safe.
 */
public final class MicrometerEventRecorderFactory implements MessageEventRecorderFactory {

    /** Stands for queues beyond the limit; no queue can have this name. */
    static final String OTHERS = "(other)";

    private final MeterRegistry registry;

    private final int mostQueues;

    private final Map<QueueName, QueueMeters> queues = new ConcurrentHashMap<>();

    private final Map<String, ScriptMeters> scripts = new ConcurrentHashMap<>();

    private volatile @Nullable QueueMeters others;

    /**
     * Creates a listener.
     * @param mostQueues how many queues have their own meters, besides those with
     * listeners
     */
    public MicrometerEventRecorderFactory(MeterRegistry registry, int mostQueues) {
        this.registry = registry;
        this.mostQueues = mostQueues;
    }

    @Override
    public MessageEventRecorder of(QueueName queue) {
        QueueMeters known = this.queues.get(queue);
        if (known != null) {
            return known;
        }
        return (this.queues.size() < this.mostQueues) ? ownMetersOf(queue) : others();
    }

    @Override
    public MessageEventRecorder of(QueueName queue, String listenerId) {
        return new ListenerMeters(this.registry, ownMetersOf(queue), queue.value(), listenerId);
    }

    /**
     * Removes the meters of a listener. The counters of its queue remain, as messages may
     * still be sent to it.
     */
    @Override
    public void forget(QueueName queue, String listenerId) {
        DelayQueueMeter.removeOfListener(this.registry, queue.value(), listenerId);
    }

    private QueueMeters ownMetersOf(QueueName queue) {
        return this.queues.computeIfAbsent(queue, (name) -> new QueueMeters(this.registry, name.value()));
    }

    private QueueMeters others() {
        QueueMeters meters = this.others;
        if (meters == null) {
            // Creating it twice is harmless: the registry has each meter once.
            meters = new QueueMeters(this.registry, OTHERS);
            this.others = meters;
        }
        return meters;
    }

    @Override
    public void called(String script, long nanos, boolean answered) {
        ScriptMeters meters = this.scripts.get(script);
        if (meters == null) {
            meters = this.scripts.computeIfAbsent(script, (name) -> new ScriptMeters(this.registry, name));
        }
        (answered ? meters.answered() : meters.failed()).record(nanos, TimeUnit.NANOSECONDS);
    }

    /**
     * Holds the timers of one script.
     *
     * @param answered calls with an answer
     * @param failed the others
     */
    private record ScriptMeters(Timer answered, Timer failed) {

        ScriptMeters(MeterRegistry registry, String script) {
            this(timer(registry, script, "success"), timer(registry, script, "failure"));
        }

        private static Timer timer(MeterRegistry registry, String script, String outcome) {
            return DelayQueueMeter.REDIS_CALLS.timer()
                .tag("script", script)
                .tag(DelayQueueMeter.OUTCOME, outcome)
                .register(registry);
        }

    }

}

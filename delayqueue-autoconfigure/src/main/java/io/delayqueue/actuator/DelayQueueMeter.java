package io.delayqueue.actuator;

import java.time.Duration;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.search.Search;

/** Lists the meters, with names and descriptions. See docs/operations.md. */
enum DelayQueueMeter {

    SENT("sent", "Sends that were answered, by outcome"),

    SEND_FAILURES("send.failures", "Sends that failed; what they sent may be stored nevertheless"),

    CANCELLED("cancelled", "Messages cancelled before they were claimed"),

    RETRIED("retried", "Messages made due again because they failed"),

    DEAD_LETTERED("dead.lettered", "Messages that were dead-lettered"),

    EXPIRED("expired", "Messages found past their time to live"),

    LEASE_LOST("lease.lost", "Renewals and settlements that the store rejected because the lease had ended"),

    REDELIVERED("redelivered", "Messages claimed whose lease before had run out"),

    SCHEDULES_SKIPPED("schedules.skipped", "Occurrences of schedules that this node has skipped, by reason"),

    LATENESS("lateness", "From the due time to the start of the handler, by the store's clock"),

    HANDLED("handled", "Time that handlers took, by outcome"),

    REDIS_CALLS("redis.calls", "Duration of calls to Redis, with the network, by script"),

    SCHEDULED("messages.scheduled", "Messages that wait, the due ones included"),

    DUE("messages.due", "Messages that are due and not claimed"),

    LEASED("messages.leased", "Messages that workers have claimed"),

    DEAD("messages.dead", "Dead letters"),

    OLDEST_DUE("oldest.due.age", "How long the message that is due the longest waits to be claimed"),

    PAUSED("paused", "1 while the queue is paused, else 0"),

    AVAILABLE_HANDLERS("handlers.available", "How many more messages, or batches, the listener could handle now"),

    HANDLERS_OUTAGE("handlers.outage",
            "How long the broker or database that the handlers of the listener need has been unavailable"),

    SUBSCRIBED("wakeups.subscribed",
            "1 while the wake-ups of the queue are subscribed, 0 while only polls find its messages"),

    CLOCK_JUMPS("clock.jumps", "Jumps of the store's clock that this process has noticed"),

    HISTORY_DROPPED("history.dropped",
            "Transitions that are missing in the history, as the database was away or too slow"),

    JOURNAL_APPLIED("journal.applied", "Requests of the journal that this node has applied to Redis"),

    JOURNAL_RESTORED("journal.restored", "Messages that Redis had lost and this node has restored from the journal"),

    JOURNAL_SWEPT("journal.swept", "Overdue messages that this node has compared with Redis"),

    JOURNAL_ENDED("journal.ended", "Messages that have ended and whose rows this node has deleted"),

    JOURNAL_BACKLOG("journal.backlog", "Messages that have ended and whose rows are not deleted and forgotten yet"),

    JOURNAL_DELAY("journal.delay", "How long the oldest request of the journal has waited to be applied to Redis"),

    INTAKE_MESSAGES("intake.messages", "Messages of a broker that intake has read, by outcome"),

    INTAKE_OUTAGE("intake.outage", "How long intake has scheduled nothing although it was started");

    static final String QUEUE = "queue";

    static final String LISTENER = "listener";

    static final String OUTCOME = "outcome";

    static final String REASON = "reason";

    static final String SOURCE = "source";

    /** Bounds of the lateness histogram; the default buckets would be far too many. */
    private static final Duration[] LATENESS_BOUNDS = { Duration.ofMillis(2), Duration.ofMillis(5),
            Duration.ofMillis(10), Duration.ofMillis(25), Duration.ofMillis(50), Duration.ofMillis(100),
            Duration.ofMillis(250), Duration.ofMillis(500), Duration.ofSeconds(1), Duration.ofMillis(2500),
            Duration.ofSeconds(5), Duration.ofSeconds(10), Duration.ofSeconds(30), Duration.ofMinutes(1),
            Duration.ofMinutes(5), Duration.ofHours(1) };

    private static final String PREFIX = "delayqueue.";

    private final String name;

    private final String description;

    DelayQueueMeter(String name, String description) {
        this.name = PREFIX + name;
        this.description = description;
    }

    /** Removes all meters of one queue of a listener. */
    static void removeOfListener(MeterRegistry registry, String queue, String listener) {
        remove(registry, Search.in(registry).tag(QUEUE, queue).tag(LISTENER, listener));
    }

    /** Removes the meters that a queue has of this kind. */
    void removeOf(MeterRegistry registry, String queue) {
        remove(registry, registry.find(this.name).tag(QUEUE, queue));
    }

    private static void remove(MeterRegistry registry, Search search) {
        search.meters()
            .stream()
            .filter((meter) -> meter.getId().getName().startsWith(PREFIX))
            .forEach(registry::remove);
    }

    static String tagOf(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }

    Counter.Builder counter(String queue) {
        return Counter.builder(this.name).description(this.description).tag(QUEUE, queue);
    }

    <T> FunctionCounter.Builder<T> counter(T source, ToDoubleFunction<T> count) {
        return FunctionCounter.builder(this.name, source, count).description(this.description);
    }

    Timer.Builder timer(String queue, String listener) {
        return timer().tag(QUEUE, queue).tag(LISTENER, listener);
    }

    Timer.Builder timer() {
        return Timer.builder(this.name).description(this.description);
    }

    /**
     * Builds a timer that also counts the samples within each bound of the histogram.
     */
    Timer.Builder histogram(String queue, String listener) {
        return timer(queue, listener).serviceLevelObjectives(LATENESS_BOUNDS);
    }

    <T> Gauge.Builder<T> gauge(String queue, T source, ToDoubleFunction<T> value) {
        return gauge(source, value).tag(QUEUE, queue);
    }

    <T> Gauge.Builder<T> gauge(T source, ToDoubleFunction<T> value) {
        return Gauge.builder(this.name, source, value)
            .description(this.description)
            .baseUnit(isSpan() ? "seconds" : null);
    }

    private boolean isSpan() {
        return switch (this) {
            case OLDEST_DUE, JOURNAL_DELAY, HANDLERS_OUTAGE, INTAKE_OUTAGE -> true;
            default -> false;
        };
    }

}

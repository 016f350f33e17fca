package io.delayqueue.actuator;

import java.time.Duration;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Timer;

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

    LATENESS("lateness", "From the due time to the start of the handler, by the store's clock"),

    HANDLED("handled", "Time that handlers took, by outcome"),

    REDIS_CALLS("redis.calls", "Duration of calls to Redis, with the network, by script"),

    SCHEDULED("messages.scheduled", "Messages that wait, the due ones included"),

    DUE("messages.due", "Messages that are due and not claimed"),

    LEASED("messages.leased", "Messages that workers have claimed"),

    DEAD("messages.dead", "Dead letters"),

    OLDEST_DUE("oldest.due.age", "How long the message that is due the longest waits to be claimed"),

    PAUSED("paused", "1 while the queue is paused, else 0"),

    AVAILABLE_HANDLERS("handlers.available", "How many more messages the listener could handle now"),

    SUBSCRIBED("wakeups.subscribed",
            "1 while the wake-ups of the queue are subscribed, 0 while only polls find its messages"),

    CLOCK_JUMPS("clock.jumps", "Jumps of the store's clock that this process has noticed"),

    HISTORY_DROPPED("history.dropped",
            "Transitions that are missing in the history, as the database was away or too slow"),

    JOURNAL_APPLIED("journal.applied", "Requests of the journal that this node has applied to Redis"),

    JOURNAL_RESTORED("journal.restored", "Messages that Redis had lost and this node has restored from the journal"),

    JOURNAL_ENDED("journal.ended", "Messages that have ended and whose rows this node has deleted"),

    JOURNAL_BACKLOG("journal.backlog", "Messages that have ended and whose rows are not deleted and forgotten yet"),

    JOURNAL_DELAY("journal.delay", "How long requests of the journal have not been applied");

    static final String QUEUE = "queue";

    static final String LISTENER = "listener";

    static final String OUTCOME = "outcome";

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
            .baseUnit((this == OLDEST_DUE || this == JOURNAL_DELAY) ? "seconds" : null);
    }

}

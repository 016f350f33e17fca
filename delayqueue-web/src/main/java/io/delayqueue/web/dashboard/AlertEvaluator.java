package io.delayqueue.web.dashboard;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;

import io.delayqueue.DelayQueueException;
import io.delayqueue.QueueName;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.admin.NodeStatus;
import io.delayqueue.admin.NodeStatus.RunningHandler;
import io.delayqueue.admin.QueueOverview;
import io.delayqueue.admin.QueueOverviews;
import io.delayqueue.journal.JournalStatus;
import io.delayqueue.store.RemoteConsumerQueues;
import io.delayqueue.store.ServerIssue;
import io.delayqueue.web.dashboard.Alert.Severity;
import io.delayqueue.web.http.Json;
import org.jspecify.annotations.Nullable;

/**
 * Derives alerts from the state of queues, nodes and the Redis server. Some problems show
 * only over time, so it remembers samples of the last minutes, taken when it is called.
 * <p>
 * <strong>Threads.</strong> One at a time, as {@link OverviewCache} ensures.
 */
final class AlertEvaluator {

    /** The title of the alert by which the page marks a queue. */
    static final String NO_CONSUMER = "The queue has no consumer";

    private static final Duration LATE = Duration.ofMinutes(1);

    private static final Duration UNCONSUMED = Duration.ofSeconds(10);

    private static final Duration PERIOD = Duration.ofMinutes(10);

    private static final Duration JUMP = Duration.ofSeconds(2);

    private static final int MAX_DETAIL = 500;

    private static final Duration SAMPLE_INTERVAL = Duration.ofSeconds(30);

    private final RemoteConsumerQueues consumed;

    /** {@code null} without a journal. */
    private final @Nullable JournalStatus journal;

    private final Deque<DeadLetterSample> samples = new ArrayDeque<>();

    private @Nullable Moment clock;

    private @Nullable Jump jump;

    AlertEvaluator(RemoteConsumerQueues consumed, @Nullable JournalStatus journal) {
        this.consumed = consumed;
        this.journal = journal;
    }

    /**
     * Finds the current alerts.
     * @param read the queues
     * @param nodes the active nodes; {@code null} if they could not be read
     * @param issues issues of the server
     */
    List<Alert> find(QueueOverviews read, @Nullable List<NodeStatus> nodes, List<ServerIssue> issues, Moment moment) {
        List<QueueOverview> queues = read.overviews();
        while (!this.samples.isEmpty() && moment.nanos() - this.samples.getFirst().nanos() > PERIOD.toNanos()) {
            this.samples.removeFirst();
        }
        List<Alert> alerts = new ArrayList<>(issues.stream().map(ServerAlerts::of).toList());
        if (this.journal != null) {
            alerts.addAll(JournalAlerts.of(this.journal));
        }
        watchClock(moment, !queues.isEmpty());
        if (this.jump != null) {
            alerts.add(jumped(this.jump));
        }
        if (nodes != null) {
            alerts.addAll(overdue(nodes));
            alerts.addAll(intakes(nodes));
        }
        read.failures().forEach((queue, failure) -> alerts.add(unreadable(queue, failure)));
        Set<String> listened = (nodes != null) ? listened(nodes) : null;
        Map<String, String> outages = (nodes != null) ? outages(nodes) : Map.of();
        queues.forEach((queue) -> {
            if (queue.paused()) {
                alerts.add(paused(queue));
            }
            else if (outages.containsKey(queue.queue())) {
                alerts.add(waits(queue, outages.get(queue.queue())));
            }
            else if (queue.oldestDue() != null) {
                late(queue, queue.oldestDue(),
                        listened == null || listened.contains(queue.queue()) || isConsumed(queue), alerts);
            }
            lapsed(queue, alerts);
            dead(queue, alerts);
        });
        remember(queues, moment.nanos());
        alerts.sort(Comparator.comparing(Alert::severity));
        return List.copyOf(alerts);
    }

    /** Returns the queues that at least one running listener polls. */
    private static Set<String> listened(List<NodeStatus> nodes) {
        return nodes.stream()
            .flatMap((node) -> node.listeners().stream())
            .flatMap((listener) -> listener.queues().stream().filter(listener::consumes))
            .collect(Collectors.toSet());
    }

    /** Returns whether the node has more overdue handlers than it lists. */
    private static boolean listsNotAllOverdue(NodeStatus node) {
        return node.handlers().overdue() > node.handlers().longest().stream().filter(RunningHandler::overdue).count();
    }

    /**
     * Finds the queues of overdue handlers, among those that nodes list. If a node lists
     * not all, each number is a lower bound.
     */
    private static List<Alert> overdue(List<NodeStatus> nodes) {
        String number = nodes.stream().anyMatch(AlertEvaluator::listsNotAllOverdue) ? "at least %d" : "%d";
        Map<String, String> longest = new LinkedHashMap<>();
        Map<String, Integer> counts = new LinkedHashMap<>();
        nodes.stream()
            .flatMap((node) -> node.handlers().longest().stream().map((handler) -> Map.entry(node, handler)))
            .filter((entry) -> entry.getValue().overdue())
            .sorted(Comparator.comparing((entry) -> entry.getValue().runningFor().negated()))
            .forEach((entry) -> {
                NodeStatus node = entry.getKey();
                RunningHandler handler = entry.getValue();
                counts.merge(handler.queue(), 1, Integer::sum);
                longest.putIfAbsent(handler.queue(),
                        "the longest for %s on node %s:%d of '%s', with message '%s'".formatted(
                                inWords(handler.runningFor()), node.host(), node.pid(), node.application(),
                                handler.id()));
            });
        return counts.entrySet()
            .stream()
            .map((entry) -> new Alert(Severity.WARNING, "Handlers are overdue", entry.getKey(),
                    Json.line("Overdue handlers: %s, %s.".formatted(number.formatted(entry.getValue()),
                            longest.get(entry.getKey())), MAX_DETAIL),
                    "Open the node on the nodes page: it lists the handlers, and stack frames show where they wait. "
                            + "A timeout of the listener would interrupt them."))
            .toList();
    }

    /** Finds the intakes that schedule nothing; one of each source. */
    private static Collection<Alert> intakes(List<NodeStatus> nodes) {
        Map<String, Alert> alerts = new LinkedHashMap<>();
        nodes.forEach((node) -> node.intakes()
            .stream()
            .filter((intake) -> intake.problem() != null)
            .forEach((intake) -> alerts.putIfAbsent(intake.source(),
                    new Alert(Severity.WARNING, "An intake schedules nothing", intake.queue(),
                            Json.line("Node %s:%d of '%s' reports of '%s': %s.".formatted(node.host(), node.pid(),
                                    node.application(), intake.source(), intake.problem()), MAX_DETAIL),
                            "Check that the broker and Redis are running, that this node can reach them, and that its "
                                    + "users have the permissions. The messages stay in the broker until they are "
                                    + "scheduled."))));
        return alerts.values();
    }

    /** Returns why a running listener handles nothing, by queue; one for each queue. */
    private static Map<String, String> outages(List<NodeStatus> nodes) {
        Map<String, String> outages = new HashMap<>();
        nodes.forEach((node) -> node.listeners()
            .stream()
            .filter((listener) -> listener.outage() != null)
            .forEach((listener) -> listener.queues()
                .forEach((queue) -> outages.putIfAbsent(queue, "Node %s:%d of '%s' reports: %s.".formatted(node.host(),
                        node.pid(), node.application(), listener.outage())))));
        return outages;
    }

    private static Alert waits(QueueOverview queue, String outage) {
        Duration oldest = queue.oldestDue();
        String late = (oldest != null && oldest.compareTo(LATE) >= 0) ? ", the oldest for " + inWords(oldest) : "";
        return new Alert(late.isEmpty() ? Severity.WARNING : Severity.ERROR, "The queue waits for another system",
                queue.queue(), Json.line("%s Due messages: %d%s.".formatted(outage, queue.due(), late), MAX_DETAIL),
                "Check that the broker or database is running, that this node can reach it, and that its user has the "
                        + "permissions. The messages wait, no attempt counts, and one at a time is tried every ten "
                        + "seconds.");
    }

    /**
     * Returns whether anything other than a listener consumes the queue: over HTTP
     * through this node, or by holding unsettled leases.
     */
    private boolean isConsumed(QueueOverview queue) {
        return queue.leased() > 0 || this.consumed.isConsumed(new QueueName(queue.queue()), PERIOD);
    }

    private static Alert unreadable(String queue, DelayQueueException failure) {
        boolean refused = !(failure instanceof StoreUnavailableException);
        return new Alert(Severity.ERROR, "The queue cannot be read", queue, Json.line(String
            .valueOf(failure.getMessage()), MAX_DETAIL), refused
                    ? "Its messages are not handled meanwhile. If a key of the queue has another type, another "
                            + "application wrote it: run an integrity check of the queue, and remove that key."
                    : "Its messages are not handled meanwhile. Check that the master that holds it is running, and that "
                            + "this node can reach it.");
    }

    private static Alert paused(QueueOverview queue) {
        String end = (queue.pausedUntil() != null) ? "until " + queue.pausedUntil() : "until it is resumed";
        return new Alert((queue.due() > 0) ? Severity.WARNING : Severity.INFO, "The queue is paused", queue.queue(),
                "It is paused on every node, %s. %s".formatted(end,
                        (queue.due() > 0) ? "Due messages: %d.".formatted(queue.due())
                                : "None of its messages is due."),
                "Resume it on its page when the reason for the pause is gone.");
    }

    private static void late(QueueOverview queue, Duration oldest, boolean listened, List<Alert> alerts) {
        if (!listened && oldest.compareTo(UNCONSUMED) >= 0) {
            alerts.add(new Alert(Severity.ERROR, NO_CONSUMER, queue.queue(),
                    ("%s due, the oldest for %s. No node has a running listener for the queue, none of its messages "
                            + "is in flight, and no consumer has claimed from it over HTTP through this node within the last %d minutes.")
                        .formatted(messagesAre(queue.due()), inWords(oldest), PERIOD.toMinutes()),
                    "Start an application that has a @DelayedListener for it, or resume its listeners on the nodes page. "
                            + "If it is consumed with receive or over HTTP, check that its consumers are running."));
        }
        else if (oldest.compareTo(LATE) >= 0) {
            alerts.add(new Alert((queue.leased() == 0) ? Severity.ERROR : Severity.WARNING, "The queue is behind",
                    queue.queue(),
                    "%s due and not started, the oldest for %s. In flight: %d.".formatted(messagesAre(queue.due()),
                            inWords(oldest), queue.leased()),
                    "If none is in flight, check the logs of its nodes. Otherwise increase the concurrency of its listener, start "
                            + "more nodes, or make its handler faster; if handlers hang, set a timeout for the listener."));
        }
    }

    private static String messagesAre(long count) {
        return (count == 1) ? "1 message is" : count + " messages are";
    }

    private void lapsed(QueueOverview queue, List<Alert> alerts) {
        if (queue.lapsed() > 0) {
            alerts.add(new Alert(Severity.WARNING, "Leases have lapsed", queue.queue(),
                    "Messages whose nodes have not renewed their leases: %d. No node has claimed since then."
                        .formatted(queue.lapsed()),
                    "They are redelivered to the next node that polls. If this persists, no node consumes the queue, or "
                            + "all its handlers are busy."));
        }
    }

    private void dead(QueueOverview queue, List<Alert> alerts) {
        if (queue.dead() == 0) {
            return;
        }
        // A queue that could not be read for a sample may have had them.
        long grown = this.samples.stream()
            .map((sample) -> sample.byQueue().get(queue.queue()))
            .filter(Objects::nonNull)
            .findFirst()
            .map((then) -> queue.dead() - then)
            .orElse(0L);
        if (grown > 0) {
            alerts.add(new Alert(Severity.WARNING, "Dead letters are growing", queue.queue(),
                    "Dead letters: %d. Added within the last %d minutes: %d.".formatted(queue.dead(),
                            PERIOD.toMinutes(), grown),
                    "Read the causes of the latest ones, fix them, and redrive the dead letters by filter."));
            return;
        }
        alerts.add(new Alert(Severity.INFO, "The queue has dead letters", queue.queue(),
                "Dead letters: %d.".formatted(queue.dead()), "Redrive them once their cause is fixed, or purge them."));
    }

    private void watchClock(Moment moment, boolean known) {
        Moment last = this.clock;
        if (known && last != null) {
            // The clock was read at an unknown time between request and reply.
            Duration between = Duration.between(last.now(), moment.now());
            Duration ahead = between.minusNanos(moment.nanos() - last.begun());
            Duration back = between.minusNanos(moment.begun() - last.nanos());
            Duration off = ahead.compareTo(JUMP) > 0 ? ahead : back;
            if (ahead.compareTo(JUMP) > 0 || back.compareTo(JUMP.negated()) < 0) {
                this.jump = new Jump(off, moment.nanos());
            }
        }
        this.clock = known ? moment : null;
        if (this.jump != null && moment.nanos() - this.jump.nanos() > PERIOD.toNanos()) {
            this.jump = null;
        }
    }

    private static Alert jumped(Jump jump) {
        boolean ahead = !jump.by().isNegative();
        return new Alert(Severity.WARNING, "The clock of Redis has jumped", null,
                "It jumped %s by about %s within the last %d minutes, or a failover led to a server whose clock differs."
                    .formatted(ahead ? "ahead" : "back", inWords(jump.by().abs()), PERIOD.toMinutes()),
                (ahead ? "Messages became due too early, and leases lapsed too early, by this much."
                        : "Messages that were sent before become due this much later.")
                        + " Synchronize the clocks of the servers with NTP, which slews them instead of setting them.");
    }

    /** Samples rarely, to keep little; growth is counted from the oldest sample. */
    private void remember(List<QueueOverview> queues, long nanos) {
        DeadLetterSample latest = this.samples.peekLast();
        if (latest != null && nanos - latest.nanos() < SAMPLE_INTERVAL.toNanos()) {
            return;
        }
        Map<String, Long> byQueue = new HashMap<>();
        queues.forEach((queue) -> byQueue.put(queue.queue(), queue.dead()));
        this.samples.addLast(new DeadLetterSample(nanos, byQueue));
    }

    /** Formats a duration in its two largest units, as the page does. */
    private static String inWords(Duration time) {
        Map<String, Integer> units = new LinkedHashMap<>();
        units.put("d", (int) time.toDaysPart());
        units.put("h", time.toHoursPart());
        units.put("min", time.toMinutesPart());
        units.put("s", time.toSecondsPart());
        String words = units.entrySet()
            .stream()
            .dropWhile((unit) -> unit.getValue() == 0)
            .limit(2)
            .filter((unit) -> unit.getValue() > 0)
            .map((unit) -> unit.getValue() + " " + unit.getKey())
            .collect(Collectors.joining(" "));
        return words.isEmpty() ? "0 s" : words;
    }

    /** Holds the number of dead letters at a time, of the queues that were read. */
    private record DeadLetterSample(long nanos, Map<String, Long> byQueue) {
    }

    /**
     * Holds a reading of the clock of Redis.
     *
     * @param now its time
     * @param begun the local monotonic time before the request
     * @param nanos the local monotonic time after the reply
     */
    record Moment(Instant now, long begun, long nanos) {
    }

    /** Holds a jump of the clock of Redis: its size, and when it was detected. */
    private record Jump(Duration by, long nanos) {
    }

}

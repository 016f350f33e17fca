package io.delayqueue.faults;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.stream.Collectors;

import io.delayqueue.BatchSendException;
import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedMessage;
import io.delayqueue.MessageLimits;
import io.delayqueue.OnDuplicate;
import io.delayqueue.SendResult;
import io.delayqueue.faults.Event.Kind;
import io.delayqueue.faults.Job.Fate;

/**
 * Sends, cancels, reschedules and replaces at random, and writes it down. Threads: each
 * sender has a thread of its own; the switch may be turned by any.
 */
final class Workload {

    static final String PLAIN = "plain";

    static final String SPREAD = "spread";

    static final String GROUPED = "grouped";

    /** Has no listener: a {@link Taker} receives. */
    static final String TAKEN = "taken";

    static final List<String> QUEUES = List.of(PLAIN, SPREAD, GROUPED, TAKEN);

    private static final String USUAL = "FAILS_ONCE=5,SLOW=2,COMES_BACK=1,DOOMED=5";

    private static final Duration LONGEST_DELAY = Duration.ofMillis(1500);

    private static final int TRIES = 20;

    private final DelayQueueOperations queue;

    private final HistoryFile history;

    private final String node;

    private final AtomicLong numbers = new AtomicLong();

    private final List<Fate> fates = new ArrayList<>();

    private volatile boolean sending;

    Workload(DelayQueueOperations queue, HistoryFile history, String node) {
        this.queue = queue;
        this.history = history;
        this.node = node;
    }

    /**
     * Starts a thread that sends while the switch is on.
     * @param fates how many of a hundred messages have which fate, as
     * {@code SLOW=5,DOOMED=10}; empty for the usual
     */
    void start(long seed, int perSecond, String fates) {
        for (String fate : fates.isEmpty() ? USUAL.split(",") : fates.split(",")) {
            String[] parts = fate.split("=");
            this.fates.addAll(Collections.nCopies(Integer.parseInt(parts[1]), Fate.valueOf(parts[0])));
        }
        Thread thread = new Thread(() -> send(new SplittableRandom(seed), perSecond), "sender-" + seed);
        thread.setDaemon(true);
        thread.start();
    }

    void turn(boolean on) {
        this.sending = on;
    }

    private void send(SplittableRandom random, int perSecond) {
        Deque<Later> later = new ArrayDeque<>();
        while (true) {
            LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(1) / perSecond);
            while (!later.isEmpty() && later.peek().at().isBefore(Instant.now())) {
                later.poll().action().run();
            }
            if (this.sending) {
                next(random, later);
            }
        }
    }

    private void next(SplittableRandom random, Deque<Later> later) {
        String queue = QUEUES.get(random.nextInt(QUEUES.size()));
        int kind = random.nextInt(100);
        if (kind < 15) {
            List<Draft> batch = new ArrayList<>();
            for (int i = 0; i < 2 + random.nextInt(15); i++) {
                batch.add(draft(queue, random, fate(random), "KEEP"));
            }
            sendAll(batch);
            return;
        }
        Draft draft = draft(queue, random, (kind < 55) ? fate(random) : Fate.QUICK, "KEEP");
        if (kind >= 55 && kind < 60) {
            send(draft.withTimeToLive(50 + random.nextLong(LONGEST_DELAY.toMillis())));
            return;
        }
        if (kind < 30) {
            send(draft.withoutId());
            return;
        }
        send(draft);
        Instant then = Instant.now().plusMillis(random.nextLong(100));
        if (kind >= 90) {
            later.add(new Later(then, () -> cancel(draft)));
        }
        else if (kind >= 80) {
            long delay = random.nextLong(LONGEST_DELAY.toMillis());
            later.add(new Later(then, () -> reschedule(draft, delay)));
        }
        else if (kind >= 70) {
            Draft next = draft(queue, random, Fate.QUICK, "REPLACE").withIdOf(draft);
            later.add(new Later(then, () -> send(next)));
        }
        else if (kind >= 65) {
            String mode = random.nextBoolean() ? "KEEP" : "AFTER_CURRENT";
            Draft twin = draft(queue, random, Fate.QUICK, mode).withIdOf(draft);
            later.add(new Later(then, () -> send(twin)));
        }
    }

    private Fate fate(SplittableRandom random) {
        int kind = random.nextInt(100);
        return (kind < this.fates.size()) ? this.fates.get(kind) : Fate.QUICK;
    }

    /** Sends one message, due now, and others like it until one is acknowledged. */
    void give(Fate fate) {
        boolean given = false;
        for (int i = 0; i < TRIES && !given; i++) {
            Draft draft = draft(PLAIN, new SplittableRandom(), fate, "KEEP");
            given = send(new Draft(PLAIN, draft.id(), draft.job(), "KEEP", 0, "", -1, 0));
        }
    }

    private Draft draft(String queue, SplittableRandom random, Fate fate, String mode) {
        String number = this.node + "-" + this.numbers.incrementAndGet();
        String group = queue.equals(GROUPED) ? "group-" + random.nextInt(20) : "";
        int priority = (random.nextInt(10) == 0)
                ? random.nextInt(MessageLimits.MIN_PRIORITY, MessageLimits.MAX_PRIORITY) : -1;
        long delay = random.nextLong(LONGEST_DELAY.toMillis());
        return new Draft(queue, "id-" + number, new Job(number, fate), mode, delay, group, priority, 0);
    }

    private boolean send(Draft draft) {
        long call = begin(draft);
        try {
            sent(call, draft, this.queue.send(draft.message()));
            return true;
        }
        catch (DelayQueueException ex) {
            failed(call, draft, ex.effect().name());
            return false;
        }
    }

    private void sendAll(List<Draft> drafts) {
        List<Long> calls = drafts.stream().map(this::begin).toList();
        List<DelayedMessage> messages = drafts.stream().map(Draft::message).toList();
        try {
            List<SendResult> results = this.queue.sendAll(messages);
            for (int i = 0; i < drafts.size(); i++) {
                sent(calls.get(i), drafts.get(i), results.get(i));
            }
        }
        catch (BatchSendException ex) {
            Map<String, SendResult> stored = ex.stored()
                .stream()
                .collect(Collectors.toMap(SendResult::id, Function.identity()));
            Set<String> refused = ex.notStored()
                .stream()
                .map((message) -> message.id().orElseThrow())
                .collect(Collectors.toSet());
            for (int i = 0; i < drafts.size(); i++) {
                Draft draft = drafts.get(i);
                if (stored.containsKey(draft.id())) {
                    sent(calls.get(i), draft, stored.get(draft.id()));
                }
                else {
                    failed(calls.get(i), draft, refused.contains(draft.id()) ? "NONE" : "UNKNOWN");
                }
            }
        }
        catch (DelayQueueException ex) {
            for (int i = 0; i < drafts.size(); i++) {
                failed(calls.get(i), drafts.get(i), ex.effect().name());
            }
        }
    }

    private long begin(Draft draft) {
        long call = this.history.nextCall();
        List<String> facts = new ArrayList<>(List.of("number", draft.job().number(), "queue", draft.queue(), "fate",
                draft.job().fate().name(), "mode", draft.mode(), "delay", Long.toString(draft.delay())));
        if (!draft.group().isEmpty()) {
            facts.addAll(List.of("group", draft.group()));
        }
        if (draft.ttl() > 0) {
            facts.addAll(List.of("ttl", Long.toString(draft.ttl())));
        }
        this.history.write(Kind.SEND, draft.id(), call, facts.toArray(String[]::new));
        return call;
    }

    private void sent(long call, Draft draft, SendResult result) {
        this.history.write(Kind.SEND_END, result.id(), call, "number", draft.job().number(), "outcome",
                result.outcome().name(), "due", Long.toString(Event.micros(result.dueAt())));
    }

    private void failed(long call, Draft draft, String effect) {
        this.history.write(Kind.SEND_END, draft.id(), call, "number", draft.job().number(), "effect", effect);
    }

    private void cancel(Draft draft) {
        long call = this.history.nextCall();
        this.history.write(Kind.CANCEL, draft.id(), call, "queue", draft.queue());
        try {
            this.history.write(Kind.CANCEL_END, draft.id(), call, "result",
                    this.queue.cancel(draft.queue(), draft.id()).name());
        }
        catch (DelayQueueException ex) {
            this.history.write(Kind.CANCEL_END, draft.id(), call, "effect", ex.effect().name());
        }
    }

    private void reschedule(Draft draft, long delay) {
        long call = this.history.nextCall();
        this.history.write(Kind.RESCHEDULE, draft.id(), call, "queue", draft.queue(), "delay", Long.toString(delay));
        try {
            this.history.write(Kind.RESCHEDULE_END, draft.id(), call, "result",
                    this.queue.reschedule(draft.queue(), draft.id(), Duration.ofMillis(delay)).name());
        }
        catch (DelayQueueException ex) {
            this.history.write(Kind.RESCHEDULE_END, draft.id(), call, "effect", ex.effect().name());
        }
    }

    private record Later(Instant at, Runnable action) {
    }

    /**
     * A message to send; the empty id is generated, the negative priority the normal, and
     * a time to live of zero is for ever.
     */
    private record Draft(String queue, String id, Job job, String mode, long delay, String group, int priority,
            long ttl) {

        Draft withoutId() {
            return new Draft(this.queue, "", this.job, this.mode, this.delay, this.group, this.priority, this.ttl);
        }

        Draft withIdOf(Draft other) {
            return new Draft(this.queue, other.id, this.job, this.mode, this.delay, other.group, this.priority,
                    this.ttl);
        }

        Draft withTimeToLive(long millis) {
            return new Draft(this.queue, this.id, this.job, this.mode, this.delay, this.group, this.priority, millis);
        }

        DelayedMessage message() {
            DelayedMessage.Builder builder = DelayedMessage.builder(this.queue, this.job)
                .delay(Duration.ofMillis(this.delay))
                .onDuplicate(OnDuplicate.valueOf(this.mode));
            if (!this.id.isEmpty()) {
                builder.id(this.id);
            }
            if (!this.group.isEmpty()) {
                builder.group(this.group);
            }
            if (this.ttl > 0) {
                builder.timeToLive(Duration.ofMillis(this.ttl));
            }
            if (this.priority >= 0) {
                builder.priority(this.priority);
            }
            return builder.build();
        }

    }

}

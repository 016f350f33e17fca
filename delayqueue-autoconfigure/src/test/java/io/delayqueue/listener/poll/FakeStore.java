package io.delayqueue.listener.poll;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;

import io.delayqueue.CancelResult;
import io.delayqueue.DeadLetterEvent;
import io.delayqueue.DelayQueueException;
import io.delayqueue.RedriveResult;
import io.delayqueue.RescheduleResult;
import io.delayqueue.SendResult;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.DeadLetterReason;
import io.delayqueue.store.DueLease;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.Lease;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionTarget;
import io.delayqueue.store.WakeUpSignal;
import io.delayqueue.store.WakeUps;
import org.jspecify.annotations.Nullable;

/**
 * Stores one queue, as simply as a listener needs it, records each call, and fails,
 * stalls or lags on demand. Other tests cover the transitions themselves.
 */
public final class FakeStore implements MessageStore, WakeUps {

    public final List<String> calls = new CopyOnWriteArrayList<>();

    public final Map<String, Entry> messages = new LinkedHashMap<>();

    final Map<String, DeadLetterReason> dead = new LinkedHashMap<>();

    public final Map<Partition, List<Listener>> alarms = new ConcurrentHashMap<>();

    /** The answers to claims from these partitions, which may never complete. */
    final Map<Partition, CompletableFuture<ClaimResult>> hanging = new ConcurrentHashMap<>();

    final List<Integer> purged = new ArrayList<>();

    private final TestClock clock;

    private final Set<String> failing = ConcurrentHashMap.newKeySet();

    private final Map<String, Runnable> during = new ConcurrentHashMap<>();

    private final Map<String, CompletableFuture<Void>> stalled = new ConcurrentHashMap<>();

    private long tokens;

    /** The failure of calls; {@code null} for a store that does not answer. */
    volatile @Nullable DelayQueueException failure;

    private Duration stepped = Duration.ZERO;

    /** The message whose acknowledgements are rejected. */
    volatile String poison = "";

    /** The dead letters that a claim reports. */
    final List<DeadLetterEvent> buried = new ArrayList<>();

    FakeStore(TestClock clock) {
        this.clock = clock;
    }

    public Entry add(String id, Duration delay) {
        return add(id, delay, "{\"v\":1,\"payload\":\"" + id + "\"}");
    }

    public synchronized Entry add(String id, Duration delay, String envelope) {
        Entry entry = new Entry(this.clock.instant().plus(delay), envelope);
        this.messages.put(id, entry);
        return entry;
    }

    /** Makes the clock jump. */
    void step(Duration by) {
        this.stepped = this.stepped.plus(by);
    }

    /** Makes later calls of that name fail. */
    public void fail(String name) {
        this.failing.add(name);
    }

    void mend() {
        this.failing.clear();
    }

    /** Runs the task during a call of that name. */
    void during(String name, Runnable task) {
        this.during.put(name, task);
    }

    /** Withholds answers to calls of that name until the future completes. */
    public CompletableFuture<Void> stall(String name) {
        CompletableFuture<Void> gate = new CompletableFuture<>();
        this.stalled.put(name, gate);
        return gate;
    }

    /** Delivers all withheld answers. */
    public void goOn() {
        this.stalled.values().forEach((gate) -> gate.complete(null));
    }

    public long count(String name) {
        return this.calls.stream().filter((call) -> call.startsWith(name + " ")).count();
    }

    private <T> CompletableFuture<T> call(String name, Object detail, Supplier<T> effect) {
        this.calls.add(name + " " + detail);
        Runnable task = this.during.get(name);
        if (task != null) {
            task.run();
        }
        if (this.failing.contains(name)) {
            DelayQueueException failure = this.failure;
            return CompletableFuture.failedFuture((failure != null) ? failure : new StoreUnavailableException(
                    "No answer to '%s'".formatted(name), DelayQueueException.Effect.UNKNOWN, null));
        }
        T result;
        synchronized (this) {
            result = effect.get();
        }
        CompletableFuture<Void> gate = this.stalled.get(name);
        return (gate != null) ? gate.thenApply((done) -> result) : CompletableFuture.completedFuture(result);
    }

    @Override
    public CompletableFuture<ClaimResult> claim(Partition queue, ClaimRequest request) {
        CompletableFuture<ClaimResult> hanging = this.hanging.get(queue);
        if (hanging != null) {
            this.calls.add("hang " + queue);
            return hanging;
        }
        return call("claim", request.limit(), () -> {
            Instant now = this.clock.instant().plus(this.stepped);
            this.messages.values().forEach((entry) -> entry.lapseIfOver(now));
            List<ClaimedMessage> claimed = new ArrayList<>();
            this.messages.entrySet()
                .stream()
                .filter((entry) -> entry.getValue().token == null && !entry.getValue().dueAt.isAfter(now))
                .sorted(Comparator.comparing((entry) -> entry.getValue().dueAt))
                .limit(request.limit())
                .toList()
                .forEach((entry) -> claimed.add(entry.getValue()
                    .lease(new Lease(queue, entry.getKey(), Long.toString(++this.tokens)),
                            now.plus(request.leaseTime()))));
            Instant next = this.messages.values()
                .stream()
                .map((entry) -> (entry.token != null) ? entry.leasedUntil : entry.dueAt)
                .min(Comparator.naturalOrder())
                .orElse(null);
            return new ClaimResult(claimed, now, next, this.buried.size(), List.copyOf(this.buried), 0,
                    request.bid() != null);
        });
    }

    @Override
    public CompletableFuture<Boolean> resign(Partition queue, String node) {
        return call("resign", queue, () -> true);
    }

    private boolean holds(Lease lease) {
        Entry entry = this.messages.get(lease.id());
        if (entry != null) {
            entry.lapseIfOver(this.clock.instant());
        }
        return entry != null && lease.token().equals(entry.token);
    }

    @Override
    public CompletableFuture<List<Boolean>> acknowledge(Partition queue, List<Lease> leases) {
        if (ids(leases).contains(this.poison)) {
            this.calls.add("acknowledge " + ids(leases));
            return CompletableFuture.failedFuture(new StoreRefusedException("Not this one", null));
        }
        return call("acknowledge", ids(leases), () -> leases.stream().map((lease) -> {
            boolean held = holds(lease);
            if (held) {
                this.messages.remove(lease.id());
            }
            return held;
        }).toList());
    }

    @Override
    public CompletableFuture<List<Boolean>> extend(Partition queue, List<Lease> leases, Duration leaseTime) {
        return call("extend", ids(leases), () -> leases.stream().map((lease) -> {
            boolean held = holds(lease);
            if (held) {
                Entry entry = this.messages.get(lease.id());
                Instant until = this.clock.instant().plus(leaseTime);
                entry.leasedUntil = until.isAfter(entry.leasedUntil) ? until : entry.leasedUntil;
            }
            return held;
        }).toList());
    }

    @Override
    public CompletableFuture<Boolean> start(Lease lease) {
        return call("start", lease.id(), () -> holds(lease));
    }

    @Override
    public CompletableFuture<Boolean> retry(Lease lease, Duration delay, String failure) {
        return call("retry", lease.id() + " in " + delay, () -> {
            boolean held = holds(lease);
            if (held) {
                Entry entry = this.messages.get(lease.id());
                entry.failures++;
                entry.suspect = false;
                entry.end(this.clock.instant().plus(delay));
            }
            return held;
        });
    }

    @Override
    public CompletableFuture<List<Boolean>> release(Partition queue, List<Lease> leases, Duration delay) {
        return call("release", ids(leases) + " in " + delay,
                () -> leases.stream().map((lease) -> release(lease, this.clock.instant().plus(delay))).toList());
    }

    @Override
    public CompletableFuture<List<Boolean>> release(Partition queue, List<DueLease> leases) {
        return call("release", ids(leases.stream().map(DueLease::lease).toList()) + " as before",
                () -> leases.stream().map((each) -> release(each.lease(), each.dueAt())).toList());
    }

    private boolean release(Lease lease, Instant due) {
        boolean held = holds(lease);
        if (held) {
            this.messages.get(lease.id()).end(due);
        }
        return held;
    }

    @Override
    public CompletableFuture<Boolean> deadLetter(Lease lease, DeadLetterReason death) {
        return call("deadLetter", lease.id(), () -> {
            boolean held = holds(lease);
            if (held) {
                this.messages.remove(lease.id());
                this.dead.put(lease.letterId(), death);
            }
            return held;
        });
    }

    @Override
    public CompletableFuture<Integer> purgeOlderThan(Partition queue, Duration age) {
        return call("purgeOlderThan", queue + " " + age, () -> this.purged.isEmpty() ? 0 : this.purged.remove(0));
    }

    @Override
    public Subscription listen(Partition queue, Listener alarm) {
        this.calls.add("listen " + queue);
        this.alarms.computeIfAbsent(queue, (name) -> new CopyOnWriteArrayList<>()).add(alarm);
        return () -> {
            if (this.alarms.get(queue).remove(alarm)) {
                this.calls.add("unlisten " + queue);
            }
        };
    }

    public void wakeUp(Partition queue) {
        this.alarms.getOrDefault(queue, List.of()).forEach((alarm) -> alarm.heard(WakeUpSignal.LOOK));
    }

    private static List<String> ids(List<Lease> leases) {
        return leases.stream().map(Lease::id).toList();
    }

    @Override
    public CompletableFuture<List<SendResult>> schedule(PartitionTarget home, List<NewMessage> messages) {
        throw new UnsupportedOperationException();
    }

    @Override
    public CompletableFuture<List<Optional<SendResult>>> scheduleIfHeld(PartitionTarget home,
            List<NewMessage> messages) {
        throw new UnsupportedOperationException();
    }

    @Override
    public CompletableFuture<CancelResult> cancel(PartitionTarget home, String id) {
        throw new UnsupportedOperationException();
    }

    @Override
    public CompletableFuture<RescheduleResult> reschedule(PartitionTarget home, String id, DueTime due) {
        throw new UnsupportedOperationException();
    }

    @Override
    public CompletableFuture<RedriveResult> redrive(PartitionTarget home, String letterId) {
        throw new UnsupportedOperationException();
    }

    @Override
    public CompletableFuture<Boolean> purge(Partition queue, String letterId) {
        throw new UnsupportedOperationException();
    }

    /** Holds a message, with its lease if it has one. */
    public static final class Entry {

        final byte[] envelope;

        Instant dueAt;

        public int failures;

        int lapses;

        boolean suspect;

        @Nullable Instant expiresAt;

        public @Nullable String token;

        Instant leasedUntil = Instant.MAX;

        Entry(Instant dueAt, String envelope) {
            this.dueAt = dueAt;
            this.envelope = envelope.getBytes(StandardCharsets.UTF_8);
        }

        ClaimedMessage lease(Lease lease, Instant until) {
            this.token = lease.token();
            this.leasedUntil = until;
            return new ClaimedMessage(lease, this.dueAt, this.failures, this.lapses, this.suspect, this.expiresAt, null,
                    this.envelope);
        }

        void lapseIfOver(Instant now) {
            if (this.token != null && !this.leasedUntil.isAfter(now)) {
                end(this.leasedUntil);
                this.suspect = true;
            }
        }

        void end(Instant dueAt) {
            this.token = null;
            this.dueAt = dueAt;
        }

    }

}

package io.delayqueue.template;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiFunction;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import io.delayqueue.CancelResult;
import io.delayqueue.DeadLetter;
import io.delayqueue.DeadLetterEvent;
import io.delayqueue.DeadLetterPage;
import io.delayqueue.MessageState;
import io.delayqueue.OnDuplicate;
import io.delayqueue.QueueStatistics;
import io.delayqueue.RedriveResult;
import io.delayqueue.RescheduleResult;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.StoredMessage;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.DeadLetterReason;
import io.delayqueue.store.DueLease;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.Lease;
import io.delayqueue.store.MessageInspector;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionTarget;
import io.delayqueue.store.WakeUpSignal;
import io.delayqueue.store.WakeUps;
import io.delayqueue.store.envelope.EnvelopeCodec;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/**
 * A store that knows just enough of a message's life, writes down every call, and answers
 * as a test wants: {@link #answers} gets each call and its effect, and decides.
 */
public final class FakeStore implements MessageStore, MessageInspector, WakeUps {

    private final LongSupplier millis;

    private final Map<String, Entry> entries = new LinkedHashMap<>();

    private final List<DeadLetter> letters = new ArrayList<>();

    private final List<Listener> alarms = new CopyOnWriteArrayList<>();

    private long lastToken;

    final List<String> calls = Collections.synchronizedList(new ArrayList<>());

    final List<NewMessage> scheduled = Collections.synchronizedList(new ArrayList<>());

    volatile int subscriptions;

    volatile BiFunction<String, Supplier<Object>, CompletableFuture<Object>> answers = (call,
            effect) -> CompletableFuture.completedFuture(effect.get());

    /** Deaths that a claim causes and tells. */
    final List<DeadLetterEvent> buried = new ArrayList<>();

    FakeStore(LongSupplier millis) {
        this.millis = millis;
    }

    @SuppressWarnings("unchecked")
    private <T> CompletableFuture<T> call(String call, Supplier<T> effect) {
        this.calls.add(call);
        Supplier<Object> guarded = () -> {
            synchronized (this) {
                return effect.get();
            }
        };
        return (CompletableFuture<T>) this.answers.apply(call, guarded);
    }

    /** Answers calls that begin so with this failure. */
    void failOn(String prefix, RuntimeException failure) {
        this.answers = (call, effect) -> call.startsWith(prefix) ? CompletableFuture.failedFuture(failure)
                : CompletableFuture.completedFuture(effect.get());
    }

    void recover() {
        this.answers = (call, effect) -> CompletableFuture.completedFuture(effect.get());
    }

    /** Puts a message there that has been through something. */
    synchronized void put(String queue, String id, int failures, int lapses, boolean suspect, byte[] envelope) {
        Entry entry = new Entry(NewMessage.of(id, DueTime.NOW, envelope), this.millis.getAsLong());
        entry.failures = failures;
        entry.lapses = lapses;
        entry.suspect = suspect;
        this.entries.put(queue + "/" + id, entry);
    }

    synchronized void expire(String queue, String id, Duration in) {
        this.entries.get(queue + "/" + id).expiresAt = Instant.ofEpochMilli(this.millis.getAsLong()).plus(in);
    }

    synchronized void addLetter(String queue, String id) {
        this.letters.add(letter(queue, id, id + "~1", "x", 1));
    }

    synchronized List<String> ids(String queue) {
        return this.entries.keySet()
            .stream()
            .filter((key) -> key.startsWith(queue + "/"))
            .map((key) -> key.substring(queue.length() + 1))
            .toList();
    }

    synchronized List<DeadLetter> letters() {
        return List.copyOf(this.letters);
    }

    synchronized boolean isLeased(String queue, String id) {
        return this.entries.get(queue + "/" + id).token != null;
    }

    void ring() {
        this.alarms.forEach((alarm) -> alarm.heard(WakeUpSignal.LOOK));
    }

    @Override
    public CompletableFuture<List<SendResult>> schedule(PartitionTarget home, List<NewMessage> messages) {
        Partition queue = home.partition();
        CompletableFuture<List<SendResult>> answer = call(
                "schedule " + queue + " " + messages.stream().map(NewMessage::id).toList(), () -> {
                    this.scheduled.addAll(messages);
                    return messages.stream().map((message) -> schedule(queue, message)).toList();
                });
        ring();
        return answer;
    }

    private SendResult schedule(Partition queue, NewMessage message) {
        long due = message.due().relative() ? this.millis.getAsLong() + message.due().millis() : message.due().millis();
        Entry present = this.entries.get(queue + "/" + message.id());
        if (present != null && message.onDuplicate() == OnDuplicate.KEEP) {
            return new SendResult(queue.queue().value(), message.id(), Instant.ofEpochMilli(present.due),
                    SendOutcome.KEPT);
        }
        this.entries.put(queue + "/" + message.id(), new Entry(message, due));
        return new SendResult(queue.queue().value(), message.id(), Instant.ofEpochMilli(due),
                (present != null) ? SendOutcome.REPLACED : SendOutcome.SCHEDULED);
    }

    @Override
    public CompletableFuture<ClaimResult> claim(Partition queue, ClaimRequest request) {
        return call("claim " + queue + " " + request.limit(), () -> {
            long now = this.millis.getAsLong();
            List<ClaimedMessage> claimed = new ArrayList<>();
            List<Entry> waiting = this.entries.entrySet()
                .stream()
                .filter((entry) -> entry.getKey().startsWith(queue + "/") && entry.getValue().token == null)
                .map(Map.Entry::getValue)
                .sorted(Comparator.comparingLong((entry) -> entry.due))
                .toList();
            for (Entry entry : waiting) {
                if (claimed.size() < request.limit() && entry.due <= now) {
                    entry.token = Long.toString(++this.lastToken);
                    claimed.add(new ClaimedMessage(new Lease(queue, entry.message.id(), entry.token),
                            Instant.ofEpochMilli(entry.due), entry.failures, entry.lapses, entry.suspect,
                            entry.expiresAt, entry.message.group(), entry.message.envelope()));
                }
            }
            Instant next = waiting.stream()
                .filter((entry) -> entry.token == null)
                .findFirst()
                .map((entry) -> Instant.ofEpochMilli(entry.due))
                .orElse(null);
            return new ClaimResult(claimed, Instant.ofEpochMilli(now), next, this.buried.size(),
                    List.copyOf(this.buried));
        });
    }

    @Override
    public CompletableFuture<Boolean> resign(Partition queue, String node) {
        throw new UnsupportedOperationException();
    }

    private @Nullable Entry held(Lease lease) {
        Entry entry = this.entries.get(lease.queue() + "/" + lease.id());
        return (entry != null && lease.token().equals(entry.token)) ? entry : null;
    }

    private void remove(Lease lease) {
        this.entries.remove(lease.queue() + "/" + lease.id());
    }

    private boolean back(Lease lease, Duration delay, int failures) {
        Entry entry = held(lease);
        if (entry == null) {
            return false;
        }
        entry.token = null;
        entry.failures += failures;
        entry.due = this.millis.getAsLong() + delay.toMillis();
        return true;
    }

    @Override
    public CompletableFuture<List<Boolean>> acknowledge(Partition queue, List<Lease> leases) {
        return call("acknowledge " + leases.get(0).id(), () -> {
            boolean held = held(leases.get(0)) != null;
            if (held) {
                remove(leases.get(0));
            }
            return List.of(held);
        });
    }

    @Override
    public CompletableFuture<List<Boolean>> extend(Partition queue, List<Lease> leases, Duration leaseTime) {
        return call("extend " + leases.get(0).id() + " " + leaseTime, () -> List.of(held(leases.get(0)) != null));
    }

    @Override
    public CompletableFuture<Boolean> start(Lease lease) {
        return call("start " + lease.id(), () -> held(lease) != null);
    }

    @Override
    public CompletableFuture<Boolean> retry(Lease lease, Duration delay, String failure) {
        return call("retry " + lease.id() + " " + delay + " " + failure, () -> back(lease, delay, 1));
    }

    @Override
    public CompletableFuture<List<Boolean>> release(Partition queue, List<Lease> leases, Duration delay) {
        return call("release " + leases.get(0).id() + " " + delay, () -> List.of(back(leases.get(0), delay, 0)));
    }

    @Override
    public CompletableFuture<List<Boolean>> release(Partition queue, List<DueLease> leases) {
        Lease lease = leases.get(0).lease();
        return call("release " + lease.id() + " as before", () -> List.of(back(lease, Duration.ZERO, 0)));
    }

    @Override
    public CompletableFuture<Boolean> deadLetter(Lease lease, DeadLetterReason death) {
        return call("deadLetter " + lease.id() + " " + death.cause() + " " + death.failed(), () -> {
            Entry entry = held(lease);
            if (entry == null) {
                return false;
            }
            remove(lease);
            this.letters.add(letter(lease.queue().value(), lease.id(), lease.letterId(), death.cause(),
                    entry.failures + (death.failed() ? 1 : 0)));
            return true;
        });
    }

    private DeadLetter letter(String queue, String id, String letterId, String cause, int failures) {
        Instant now = Instant.ofEpochMilli(this.millis.getAsLong());
        return new DeadLetter(queue, letterId, id, null, now, now, failures, 0, cause, null, "1", Map.of());
    }

    @Override
    public CompletableFuture<List<Optional<SendResult>>> scheduleIfHeld(PartitionTarget home,
            List<NewMessage> messages) {
        throw new UnsupportedOperationException();
    }

    @Override
    public CompletableFuture<CancelResult> cancel(PartitionTarget home, String id) {
        Partition queue = home.partition();
        return call("cancel " + queue + " " + id, () -> (this.entries.remove(queue + "/" + id) != null)
                ? CancelResult.CANCELLED : CancelResult.NOT_FOUND);
    }

    @Override
    public CompletableFuture<RescheduleResult> reschedule(PartitionTarget home, String id, DueTime due) {
        Partition queue = home.partition();
        return call("reschedule " + queue + " " + id + " " + due, () -> this.entries.containsKey(queue + "/" + id)
                ? RescheduleResult.RESCHEDULED : RescheduleResult.NOT_FOUND);
    }

    @Override
    public CompletableFuture<RedriveResult> redrive(PartitionTarget home, String letterId) {
        Partition queue = home.partition();
        return call("redrive " + letterId, () -> {
            DeadLetter letter = this.letters.stream()
                .filter((one) -> one.letterId().equals(letterId))
                .findFirst()
                .orElse(null);
            if (letter == null) {
                return RedriveResult.NOT_FOUND;
            }
            if (this.entries.containsKey(queue + "/" + letter.id())) {
                return RedriveResult.ID_IN_USE;
            }
            this.letters.remove(letter);
            put(queue.queue().value(), letter.id(), 0, 0, false, new byte[0]);
            return RedriveResult.REDRIVEN;
        });
    }

    @Override
    public CompletableFuture<Boolean> purge(Partition queue, String letterId) {
        return call("purge " + letterId, () -> this.letters.removeIf((letter) -> letter.letterId().equals(letterId)));
    }

    @Override
    public CompletableFuture<Integer> purgeOlderThan(Partition queue, Duration age) {
        return call("purgeOlderThan " + age, () -> {
            int removed = Math.min(BATCH_LIMIT, this.letters.size());
            this.letters.subList(0, removed).clear();
            return removed;
        });
    }

    @Override
    public CompletableFuture<Optional<StoredMessage>> find(PartitionTarget home, String id) {
        Partition queue = home.partition();
        return call("find " + queue + " " + id, () -> Optional.ofNullable(this.entries.get(queue + "/" + id))
            .map((entry) -> new StoredMessage(queue.queue().value(), id, MessageState.SCHEDULED,
                    Instant.ofEpochMilli(entry.due), null, null, entry.message.priority(), entry.message.group(), 0, 0,
                    EnvelopeCodec.text(new EnvelopeCodec(JsonMapper.builder().build()).read(entry.message.envelope())),
                    Map.of())));
    }

    @Override
    public CompletableFuture<QueueStatistics> statistics(Partition queue) {
        return call("statistics " + queue, () -> new QueueStatistics(queue.queue().value(),
                ids(queue.queue().value()).size(), 0, 0, this.letters.size(), null));
    }

    @Override
    public CompletableFuture<DeadLetterPage> deadLetters(Partition queue, @Nullable String cursor, int limit) {
        return call("deadLetters " + cursor + " " + limit, () -> {
            if (cursor != null && !cursor.contains("~")) {
                throw new IllegalArgumentException("This cursor is not valid");
            }
            List<DeadLetter> rest = this.letters.stream()
                .sorted(Comparator.comparing(DeadLetter::letterId).reversed())
                .filter((letter) -> cursor == null || letter.letterId().compareTo(cursor) < 0)
                .toList();
            List<DeadLetter> page = rest.subList(0, Math.min(limit, rest.size()));
            return new DeadLetterPage(page, (page.size() < limit) ? null : page.get(limit - 1).letterId());
        });
    }

    @Override
    public CompletableFuture<Optional<DeadLetter>> deadLetter(Partition queue, String letterId) {
        throw new UnsupportedOperationException();
    }

    @Override
    public CompletableFuture<Optional<NewMessage>> buried(Partition queue, String letterId) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Subscription listen(Partition queue, Listener alarm) {
        this.calls.add("listen " + queue);
        this.alarms.add(alarm);
        this.subscriptions++;
        return () -> {
            if (this.alarms.remove(alarm)) {
                this.subscriptions--;
            }
        };
    }

    private static final class Entry {

        private final NewMessage message;

        private long due;

        private int failures;

        private int lapses;

        private boolean suspect;

        private @Nullable Instant expiresAt;

        private @Nullable String token;

        Entry(NewMessage message, long due) {
            this.message = message;
            this.due = due;
        }

    }

}

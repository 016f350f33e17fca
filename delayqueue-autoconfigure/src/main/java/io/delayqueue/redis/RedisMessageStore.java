package io.delayqueue.redis;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import java.util.stream.IntStream;

import io.delayqueue.CancelResult;
import io.delayqueue.DeadLetterEvent;
import io.delayqueue.RedriveResult;
import io.delayqueue.RescheduleResult;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.redis.script.RedisScripts;
import io.delayqueue.redis.script.ScriptArguments;
import io.delayqueue.redis.script.ScriptCodec;
import io.delayqueue.redis.script.ScriptCodec.Attempts;
import io.delayqueue.redis.script.ScriptCodec.Details;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.DeadLetterRequest;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.HeldRevision;
import io.delayqueue.store.Lease;
import io.delayqueue.store.LedgerChange;
import io.delayqueue.store.LedgerChanges;
import io.delayqueue.store.LedgerEntry;
import io.delayqueue.store.LedgerRequest;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionTarget;
import io.delayqueue.store.StoreFailures;
import io.delayqueue.store.RecordedDeadLetter;
import io.delayqueue.store.RevisionPage;
import io.delayqueue.store.UnstartedLease;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import static io.delayqueue.redis.script.ScriptCodec.bytes;
import static io.delayqueue.redis.script.ScriptCodec.bytesOfName;
import static io.delayqueue.redis.script.ScriptCodec.name;
import static io.delayqueue.redis.script.ScriptCodec.number;
import static io.delayqueue.redis.script.ScriptCodec.text;
import static io.delayqueue.redis.script.SendReplies.CHANGES_GROUP;
import static io.delayqueue.redis.script.SendReplies.DEDUPLICATED;
import static io.delayqueue.redis.script.SendReplies.EXCEEDS_WINDOWS;
import static io.delayqueue.redis.script.SendReplies.NOT_HELD;

/**
 * Stores messages in Redis by Lua scripts, whose headers specify the operations; this
 * class only converts arguments to bytes and replies to values. Most messages are stored
 * by {@code send.lua}, the others by {@code schedule.lua}.
 */
public final class RedisMessageStore implements MessageStore {

    private static final Logger logger = LoggerFactory.getLogger(RedisMessageStore.class);

    private static final SendOutcome[] SEND_OUTCOMES = { SendOutcome.SCHEDULED, SendOutcome.KEPT, SendOutcome.REPLACED,
            SendOutcome.AFTER_CURRENT };

    private static final CancelResult[] CANCEL_RESULTS = { CancelResult.CANCELLED, CancelResult.LEASED,
            CancelResult.NOT_FOUND };

    private static final RescheduleResult[] RESCHEDULE_RESULTS = { RescheduleResult.RESCHEDULED,
            RescheduleResult.LEASED, RescheduleResult.NOT_FOUND };

    private static final RedriveResult[] REDRIVE_RESULTS = { RedriveResult.REDRIVEN, RedriveResult.ID_IN_USE,
            RedriveResult.EMPTY, RedriveResult.NOT_FOUND };

    /** Outcome of a message whose revision the queue holds already. */
    private static final int HELD = 6;

    /** Outcome of a settlement that was left to another call. */
    private static final int LEFT = 2;

    /** Outcome of a settlement that another call with one key more makes. */
    private static final int HAS_WINDOW = 3;

    private static final int CLAIM_HEADER = 8;

    private static final int CHANGES_HEADER = 4;

    private final RedisScriptExecutor redis;

    /** {@code null} if sends are not merged. */
    private final @Nullable SendMerger merger;

    public RedisMessageStore(RedisScriptExecutor redis) {
        this.redis = redis;
        Duration limit = redis.mergedLimit();
        this.merger = (limit != null) ? new SendMerger(this::scheduleWithin, limit, System::nanoTime) : null;
    }

    @Override
    public boolean isBlocking() {
        return this.redis.isBlocking();
    }

    @Override
    public CompletableFuture<List<SendResult>> schedule(PartitionTarget target, List<NewMessage> messages) {
        if (target.offer() != null || !arePlain(messages)) {
            return scheduleEach(target, messages, null, false);
        }
        if (this.merger != null && messages.size() == 1 && messages.get(0).unique()) {
            return this.merger.schedule(target, messages.get(0));
        }
        return scheduleWithin(target, messages, null);
    }

    /**
     * The limit is that of both calls, if the first finds a held id. That may be held by
     * an earlier attempt of the call, before the connection was lost; a failure of the
     * second call does not undo that.
     */
    private CompletableFuture<List<SendResult>> scheduleWithin(PartitionTarget target, List<NewMessage> messages,
            @Nullable Duration limit) {
        long start = System.nanoTime();
        return this.redis.send(limit, target.partition(), ScriptArguments.ofSend(target, messages))
            .thenCompose((reply) -> reply.isEmpty()
                    ? scheduleEach(target, messages, RedisScriptExecutor.left(limit, start), true)
                    : CompletableFuture.completedFuture(toResults(target, messages, reply)));
    }

    private static boolean arePlain(List<NewMessage> messages) {
        for (NewMessage message : messages) {
            if (!message.plain()) {
                return false;
            }
        }
        return true;
    }

    private List<SendResult> toResults(PartitionTarget target, List<NewMessage> messages, List<Object> dues) {
        if (dues.size() > messages.size()) {
            logRefusedWakeUp(target.partition());
        }
        List<SendResult> results = new ArrayList<>(messages.size());
        for (int i = 0; i < messages.size(); i++) {
            results.add(toResult(target, messages.get(i), 0, number(dues.get(i))));
        }
        return results;
    }

    private CompletableFuture<List<SendResult>> scheduleEach(PartitionTarget target, List<NewMessage> messages,
            @Nullable Duration limit, boolean triedBefore) {
        byte[][] arguments = ScriptArguments.ofSchedule(target, messages, false);
        return this.redis.schedule(limit, target.partition(), messages, arguments)
            .exceptionallyCompose(
                    (failure) -> CompletableFuture.failedFuture(StoreFailures.ofAttempts(triedBefore, failure)))
            .thenApply((reply) -> toResults(target, messages, reply, RedisMessageStore::toResult));
    }

    @Override
    public CompletableFuture<List<Optional<SendResult>>> scheduleIfHeld(PartitionTarget target,
            List<NewMessage> messages) {
        byte[][] arguments = ScriptArguments.ofSchedule(target, messages, true);
        return this.redis.schedule(null, target.partition(), messages, arguments)
            .thenApply(
                    (reply) -> toResults(target, messages, reply, (at, message, outcome, due) -> (outcome == NOT_HELD)
                            ? Optional.empty() : Optional.of(toResult(at, message, outcome, due))));
    }

    private <T> List<T> toResults(PartitionTarget target, List<NewMessage> messages, List<Object> reply, Sent<T> form) {
        if (number(reply.get(1)) == EXCEEDS_WINDOWS) {
            throw messages.get((int) number(reply.get(2))).exceedsWindows(target.queue());
        }
        if (number(reply.get(1)) == CHANGES_GROUP) {
            throw messages.get((int) number(reply.get(2))).changesGroup(target.queue());
        }
        logRefusedWakeUp(target.partition(), reply.get(0));
        List<T> results = new ArrayList<>(messages.size());
        for (int i = 0; i < messages.size(); i++) {
            results.add(
                    form.of(target, messages.get(i), (int) number(reply.get(1 + 2 * i)), number(reply.get(2 + 2 * i))));
        }
        return results;
    }

    private static SendResult toResult(PartitionTarget target, NewMessage message, int outcome, long due) {
        if (outcome == DEDUPLICATED) {
            return new SendResult(target.queue().value(), message.id(), null, SendOutcome.DEDUPLICATED);
        }
        return new SendResult(target.queue().value(), message.id(), Instant.ofEpochMilli(due),
                (outcome == HELD) ? SendOutcome.RECORDED : SEND_OUTCOMES[outcome]);
    }

    @Override
    public CompletableFuture<ClaimResult> claim(Partition partition, ClaimRequest request) {
        byte[][] arguments = ScriptArguments.ofClaim(request);
        // Expired messages begin their duplicate windows only where they are
        // dead-lettered.
        return ((request.policy() == ExpiryPolicy.DEAD_LETTER)
                ? this.redis.withDuplicates(RedisScripts.CLAIM, partition, arguments)
                : this.redis.run(RedisScripts.CLAIM, partition, arguments))
            .thenApply((reply) -> toClaim(partition, reply));
    }

    @Override
    public CompletableFuture<Boolean> resign(Partition partition, String node) {
        return this.redis.run(RedisScripts.RESIGN_PRIMARY, partition, bytes(node))
            .thenApply((reply) -> number(reply.get(0)) == 1);
    }

    private ClaimResult toClaim(Partition partition, List<Object> reply) {
        logRefusedWakeUp(partition, reply.get(4));
        long nextAt = number(reply.get(1));
        int size = (int) number(reply.get(CLAIM_HEADER - 1));
        int lists = CLAIM_HEADER + 3 * size;
        boolean plain = reply.size() == lists;
        List<?> attempts = plain ? List.of() : (List<?>) reply.get(lists);
        List<?> details = plain ? List.of() : (List<?>) reply.get(lists + 1);
        List<?> deadLetters = plain ? List.of() : (List<?>) reply.get(lists + 2);
        String token = text(reply.get(2));
        List<ClaimedMessage> messages = new ArrayList<>(size);
        for (int i = 0; i < size; i++) {
            Attempts tried = plain ? Attempts.NONE : Attempts.of(attempts.get(i));
            Details known = plain ? Details.NONE : Details.of(details.get(i));
            messages.add(new ClaimedMessage(new Lease(partition, name(reply.get(CLAIM_HEADER + 2 * i)), token),
                    Instant.ofEpochMilli(ScriptCodec.ceil(reply.get(CLAIM_HEADER + 2 * i + 1))), tried.failures(),
                    tried.lapses(), tried.redelivered(), known.expiresAt(), known.group(),
                    ScriptCodec.envelopeOf((byte[]) reply.get(CLAIM_HEADER + 2 * size + i)),
                    ScriptCodec.revisionOf((byte[]) reply.get(CLAIM_HEADER + 2 * size + i))));
        }
        return new ClaimResult(messages, ScriptCodec.ofMicros(number(reply.get(0))),
                (nextAt == 0) ? null : Instant.ofEpochMilli(nextAt), (int) number(reply.get(3)),
                toEvents(partition, deadLetters), (int) number(reply.get(5)), number(reply.get(6)) == 1);
    }

    private static List<DeadLetterEvent> toEvents(Partition partition, List<?> deadLetters) {
        List<DeadLetterEvent> events = new ArrayList<>();
        for (int i = 0; i < deadLetters.size(); i += 3) {
            String deadLetterId = name(deadLetters.get(i));
            events.add(new DeadLetterEvent(partition.queue().value(), Lease.idOf(deadLetterId), deadLetterId,
                    (int) number(deadLetters.get(i + 1)), text(deadLetters.get(i + 2))));
        }
        return events;
    }

    @Override
    public CompletableFuture<List<Boolean>> acknowledge(Partition partition, List<Lease> leases) {
        return acknowledged(partition, leases,
                this.redis.run(RedisScripts.ACKNOWLEDGE, partition, ScriptArguments.byToken(leases)));
    }

    @Override
    public CompletableFuture<Boolean> expire(Lease lease) {
        List<Lease> leases = List.of(lease);
        return acknowledged(lease.partition(), leases,
                this.redis.run(RedisScripts.ACKNOWLEDGE, lease.partition(), ScriptArguments.ofExpired(lease)))
            .thenApply((answers) -> answers.get(0));
    }

    private CompletableFuture<List<Boolean>> acknowledgeWithWindows(Partition partition, List<Lease> leases) {
        return acknowledged(partition, leases,
                this.redis.withDuplicates(RedisScripts.ACKNOWLEDGE, partition, ScriptArguments.byToken(leases)));
    }

    private CompletableFuture<List<Boolean>> acknowledged(Partition partition, List<Lease> leases,
            CompletableFuture<List<Object>> answer) {
        return answer.thenCompose((reply) -> {
            logRefusedWakeUp(partition, reply.get(0));
            if (reply.size() == 1) {
                return CompletableFuture.completedFuture(Collections.nCopies(leases.size(), true));
            }
            return complete(reply, leases, (rest) -> acknowledge(partition, rest)).thenCompose((done) -> repeat(done,
                    leases, indexesOf(reply, HAS_WINDOW), (rest) -> acknowledgeWithWindows(partition, rest)));
        });
    }

    /**
     * Returns the answers of a reply. First settles, in another call, the leases that the
     * script left out because the successors of others are large.
     */
    private static <T> CompletableFuture<List<Boolean>> complete(List<Object> reply, List<T> leases,
            Function<List<T>, CompletableFuture<List<Boolean>>> again) {
        return repeat(ScriptCodec.flags(reply, 1), leases, indexesOf(reply, LEFT), again);
    }

    private static List<Integer> indexesOf(List<Object> reply, int outcome) {
        return IntStream.range(0, reply.size() - 1).filter((i) -> number(reply.get(i + 1)) == outcome).boxed().toList();
    }

    /** Settles some leases in another call, and adds its answers to those given. */
    private static <T> CompletableFuture<List<Boolean>> repeat(List<Boolean> done, List<T> leases, List<Integer> left,
            Function<List<T>, CompletableFuture<List<Boolean>>> again) {
        if (left.isEmpty()) {
            return CompletableFuture.completedFuture(done);
        }
        boolean partly = done.contains(true);
        return again.apply(left.stream().<T>map(leases::get).toList())
            .exceptionallyCompose((failure) -> CompletableFuture.failedFuture(StoreFailures.ofRest(partly, failure)))
            .thenApply((rest) -> {
                for (int i = 0; i < left.size(); i++) {
                    done.set(left.get(i), rest.get(i));
                }
                return done;
            });
    }

    @Override
    public CompletableFuture<List<Boolean>> extend(Partition partition, List<Lease> leases, Duration leaseTime) {
        return this.redis
            .run(RedisScripts.EXTEND, partition,
                    ScriptArguments.idsAndTokens(leases, ScriptArguments.micros(leaseTime)))
            .thenApply((reply) -> ScriptCodec.flags(reply, 0));
    }

    @Override
    public CompletableFuture<Boolean> start(Lease lease) {
        return this.redis
            .run(RedisScripts.MARK_STARTED, lease.partition(), bytesOfName(lease.id()), bytes(lease.token()))
            .thenApply((reply) -> number(reply.get(0)) == 1);
    }

    @Override
    public CompletableFuture<Boolean> retry(Lease lease, Duration delay, String failure) {
        return this.redis
            .run(RedisScripts.RETRY, lease.partition(), bytesOfName(lease.id()), bytes(lease.token()),
                    bytes(DueTime.ceilToMillis(delay)), bytes(failure))
            .thenApply((reply) -> isDone(lease.partition(), reply));
    }

    @Override
    public CompletableFuture<List<Boolean>> release(Partition partition, List<Lease> leases, Duration delay) {
        return release(partition, leases, ScriptArguments.ofRelease(leases, delay),
                (rest) -> release(partition, rest, delay));
    }

    @Override
    public CompletableFuture<List<Boolean>> release(Partition partition, List<UnstartedLease> leases) {
        return release(partition, leases, ScriptArguments.ofRelease(leases), (rest) -> release(partition, rest));
    }

    private <T> CompletableFuture<List<Boolean>> release(Partition partition, List<T> leases, byte[][] arguments,
            Function<List<T>, CompletableFuture<List<Boolean>>> again) {
        return this.redis.run(RedisScripts.RELEASE, partition, arguments).thenCompose((reply) -> {
            logRefusedWakeUp(partition, reply.get(0));
            return complete(reply, leases, again);
        });
    }

    @Override
    public CompletableFuture<Boolean> deadLetter(Lease lease, DeadLetterRequest request) {
        byte[][] arguments = { bytesOfName(lease.id()), bytes(lease.token()), bytes(request.cause()),
                bytes(request.failed() ? 1 : 0), bytes(request.dueAt().toEpochMilli()) };
        return this.redis.run(RedisScripts.DEAD_LETTER, lease.partition(), arguments)
            .thenCompose((reply) -> (number(reply.get(1)) == HAS_WINDOW)
                    ? this.redis.withDuplicates(RedisScripts.DEAD_LETTER, lease.partition(), arguments)
                    : CompletableFuture.completedFuture(reply))
            .thenApply((reply) -> isDone(lease.partition(), reply));
    }

    @Override
    public CompletableFuture<CancelResult> cancel(PartitionTarget target, String id) {
        return this.redis.withDuplicates(RedisScripts.CANCEL, target.partition(), ScriptArguments.ofCancel(target, id))
            .thenApply((reply) -> outcome(target.partition(), reply, CANCEL_RESULTS));
    }

    @Override
    public CompletableFuture<RescheduleResult> reschedule(PartitionTarget target, String id, DueTime due) {
        return this.redis
            .run(RedisScripts.RESCHEDULE, target.partition(), ScriptArguments.ofReschedule(target, id, due))
            .thenApply((reply) -> outcome(target.partition(), reply, RESCHEDULE_RESULTS));
    }

    @Override
    public CompletableFuture<RedriveResult> redrive(PartitionTarget target, String deadLetterId) {
        byte[] stamp = ScriptArguments.stamped(ThreadLocalRandom.current().nextLong(), new byte[0]);
        return this.redis
            .run(RedisScripts.REDRIVE, target.partition(), bytesOfName(deadLetterId), stamp, bytes(target.version()))
            .thenApply((reply) -> outcome(target.partition(), reply, REDRIVE_RESULTS));
    }

    @Override
    public CompletableFuture<LedgerChanges> changes(Partition partition, LedgerRequest request) {
        return this.redis.run(RedisScripts.CHANGES, partition, ScriptArguments.ofChanges(request))
            .thenApply((reply) -> new LedgerChanges(text(reply.get(0)), number(reply.get(1)), number(reply.get(2)),
                    number(reply.get(3)), toChanges(reply)));
    }

    private static List<LedgerChange> toChanges(List<?> reply) {
        List<LedgerChange> changes = new ArrayList<>();
        for (int i = CHANGES_HEADER; i < reply.size(); i += 2) {
            String raw = ScriptCodec.raw(reply.get(i));
            int blank = raw.indexOf(' ');
            LedgerEntry entry = LedgerEntry.parse(raw.substring(0, blank),
                    name(ScriptCodec.bytesOfRaw(raw.substring(blank + 1))));
            changes.add(new LedgerChange(entry, (byte[]) reply.get(i + 1)));
        }
        return changes;
    }

    @Override
    public CompletableFuture<RevisionPage> heldRevisions(Partition partition, String cursor) {
        return this.redis.run(RedisScripts.HELD_REVISIONS, partition, bytes(cursor)).thenApply(ScriptCodec::revisions);
    }

    @Override
    public CompletableFuture<List<HeldRevision>> heldRevisions(Partition partition, List<LedgerEntry> messages) {
        List<byte[]> arguments = new ArrayList<>(List.of(new byte[0]));
        messages.forEach((message) -> {
            arguments.add(bytesOfName(message.name()));
            arguments.add(bytes(message.revision()));
        });
        return this.redis.run(RedisScripts.HELD_REVISIONS, partition, arguments.toArray(byte[][]::new))
            .thenApply((reply) -> IntStream.range(0, messages.size())
                .mapToObj((i) -> new HeldRevision(number(reply.get(2 * i)) == 1, number(reply.get(2 * i + 1))))
                .toList());
    }

    @Override
    public RecordedDeadLetter toDeadLetter(NewMessage message, String deadLetterId, String cause, Instant now) {
        return new RecordedDeadLetter(deadLetterId,
                DeadLetterContent.of(message, cause, now.toEpochMilli(), ScriptArguments.stamped(message)).toBytes());
    }

    @Override
    public CompletableFuture<Integer> restoreDeadLetters(Partition partition, long deadline,
            List<RecordedDeadLetter> deadLetters) {
        List<byte[]> arguments = new ArrayList<>(List.of(bytes(deadline)));
        for (RecordedDeadLetter deadLetter : deadLetters) {
            arguments.add(bytesOfName(deadLetter.deadLetterId()));
            arguments.add(deadLetter.content());
        }
        return this.redis.run(RedisScripts.RESTORE_DEAD_LETTERS, partition, arguments.toArray(byte[][]::new))
            .thenApply((reply) -> (int) number(reply.get(0)));
    }

    @Override
    public CompletableFuture<Boolean> purge(Partition partition, String deadLetterId) {
        return this.redis.withDuplicates(RedisScripts.PURGE, partition, bytes(0), bytes(1), bytesOfName(deadLetterId))
            .thenApply((reply) -> number(reply.get(0)) == 1);
    }

    /** Leaves the duplicate window of the id. */
    @Override
    public CompletableFuture<Boolean> removeRedriven(Partition partition, String deadLetterId) {
        return this.redis.run(RedisScripts.PURGE, partition, bytes(0), bytes(1), bytesOfName(deadLetterId))
            .thenApply((reply) -> number(reply.get(0)) == 1);
    }

    @Override
    public CompletableFuture<Integer> purgeOlderThan(Partition partition, Duration age) {
        return this.redis.withDuplicates(RedisScripts.PURGE, partition, bytes(age.toMillis()), bytes(BATCH_LIMIT))
            .thenApply((reply) -> (int) number(reply.get(0)));
    }

    private void logRefusedWakeUp(Partition partition, Object refused) {
        if (number(refused) == 1) {
            logRefusedWakeUp(partition);
        }
    }

    /** Logs once that wake-ups are not permitted; messages are found later. */
    private void logRefusedWakeUp(Partition partition) {
        if (this.redis.recordRefusedWakeUp()) {
            this.redis.log(() -> logger.warn(
                    "The Redis user may not publish to channel '{}', nor probably to those of other queues; "
                            + "workers find messages by their safety poll, up to some seconds late",
                    this.redis.keysOf(partition).wake()));
        }
    }

    private <T> T outcome(Partition partition, List<Object> reply, T[] outcomes) {
        logRefusedWakeUp(partition, reply.get(0));
        return outcomes[(int) number(reply.get(1))];
    }

    private boolean isDone(Partition partition, List<Object> reply) {
        logRefusedWakeUp(partition, reply.get(0));
        return number(reply.get(1)) == 1;
    }

    /** Creates the result for one message of a send. */
    private interface Sent<T> {

        T of(PartitionTarget target, NewMessage message, int outcome, long due);

    }

}

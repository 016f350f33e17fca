package io.delayqueue.redis;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.SendResult;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionTarget;
import io.delayqueue.store.StoreFailures;
import org.jspecify.annotations.Nullable;

/**
 * Merges concurrent sends to a partition into calls of many messages. While
 * {@value #MAX_CALLS} calls are pending, further sends wait, and the next answer sends
 * all of them in one call. So a single sender, and a few, do not wait for each other.
 * While calls have several messages on average, only {@value #MAX_LARGE_CALLS} are
 * pending, as the fixed cost of a call is shared by more messages then; unless a full
 * call waits. More calls are pending if the network is slow: as many as Redis could
 * handle during a round trip.
 * <p>
 * Accepts only messages with generated ids and without group, whose order does not matter
 * and which no version of the layout concerns. Each message has its own result, its own
 * exception and its own time limit: a call is cancelled when the first limit of its
 * messages is over, and a message that was not sent within most of its limit fails
 * without effect.
 * <p>
 * <strong>Threads.</strong> Any. Answers arrive on the client's thread, which sends the
 * waiting messages. The lock of the sends of a partition is held for a few instructions.
 */
final class SendMerger {

    /** Calls of one partition that are pending before sends wait. */
    static final int MAX_CALLS = 4;

    /** The same while many threads send. */
    static final int MAX_LARGE_CALLS = 2;

    /** Bounds the work of one call, because it blocks other calls of the store. */
    static final int MAX_BYTES = 1 << 20;

    /**
     * About the time that Redis and this process spend on a call, in nanoseconds. In the
     * round trip of a slow network, Redis could handle many calls, so more are pending.
     */
    static final long CALL_NANOS = 60_000;

    /** Calls that are pending at most, as a stalled server is no distant one. */
    static final int MAX_DISTANT_CALLS = 64;

    /** Callers may invent names of queues; beyond this number their sends do not wait. */
    private static final int MAX_PARTITIONS = 10_000;

    /** The part of a time limit that must be left for a call. */
    private static final int LEAST_PART = 10;

    private static final Duration LEAST_WAIT = Duration.ofMillis(1);

    private final Call call;

    private final Duration limit;

    private final LongSupplier nanoTime;

    private final Map<Partition, PartitionSends> partitions = new ConcurrentHashMap<>();

    /**
     * Creates a merger without pending sends.
     * @param call stores messages within a time limit
     * @param limit the time limit of each send
     * @param nanoTime the monotonic clock
     */
    SendMerger(Call call, Duration limit, LongSupplier nanoTime) {
        this.call = call;
        this.limit = limit;
        this.nanoTime = nanoTime;
    }

    /** Stores a message, perhaps together with others. */
    CompletableFuture<List<SendResult>> schedule(PartitionTarget target, NewMessage message) {
        PartitionSends sends = this.partitions.get(target.partition());
        if (sends == null) {
            if (this.partitions.size() >= MAX_PARTITIONS) {
                return this.call.schedule(target, List.of(message), this.limit);
            }
            sends = this.partitions.computeIfAbsent(target.partition(), (partition) -> new PartitionSends());
        }
        Member member = new Member(target, message, new CompletableFuture<>());
        if (sends.add(member, this.nanoTime)) {
            send(sends);
        }
        return member.answer;
    }

    /** Makes a call, and further ones with the messages that wait when it is answered. */
    private void send(PartitionSends sends) {
        boolean ended = false;
        while (!ended) {
            Batch batch = null;
            try {
                batch = new Batch();
                ended = call(sends, batch);
            }
            catch (Throwable ex) {
                // An error, such as an exhausted stack: the call must not count as
                // pending for ever, nor leave senders without an answer.
                ended = true;
                abort(sends, batch, ex);
            }
            finally {
                // After the call, as callbacks of applications may block.
                if (batch != null && !batch.late.isEmpty()) {
                    failLate(batch.late);
                }
            }
        }
    }

    private void abort(PartitionSends sends, @Nullable Batch batch, Throwable cause) {
        List<Member> unsent = sends.abort(batch);
        fail(unsent, "An earlier call failed, so this one was not sent; nothing was stored", Effect.NONE, cause);
        if (batch != null) {
            fail(batch.members, "The call failed", Effect.UNKNOWN, cause);
        }
    }

    /**
     * Makes a call.
     * @return whether it is pending, or no message waits; otherwise it was answered at
     * once, and another one is to follow: in a loop, as it would exhaust the stack
     */
    private boolean call(PartitionSends sends, Batch batch) {
        sends.take(batch, (member) -> left(member) < this.limit.toNanos() / LEAST_PART);
        List<Member> members = batch.members;
        if (members.isEmpty()) {
            return true;
        }
        long began = this.nanoTime.getAsLong();
        CompletableFuture<List<SendResult>> answer = call(members);
        if (answer.isDone()) {
            boolean retired = sends.retire(batch);
            answer.whenComplete((results, failure) -> complete(members, results, failure));
            return retired;
        }
        answer.whenComplete((results, failure) -> {
            try {
                if (results != null) {
                    sends.answered(this.nanoTime.getAsLong() - began, batch.alone);
                }
                if (!sends.retire(batch)) {
                    send(sends);
                }
            }
            finally {
                complete(members, results, failure);
            }
        });
        return true;
    }

    private CompletableFuture<List<SendResult>> call(List<Member> members) {
        Member first = members.get(0);
        try {
            long left = left(first);
            // The whole limit if it did not wait, as exceptions name the limit.
            boolean waited = this.limit.toNanos() - left >= LEAST_WAIT.toNanos();
            List<NewMessage> messages = new ArrayList<>(members.size());
            members.forEach((member) -> messages.add(member.message));
            return this.call.schedule(first.target, messages, waited ? Duration.ofNanos(left) : this.limit);
        }
        catch (Throwable ex) {
            // An error as well, or the call would never end.
            return CompletableFuture.failedFuture(ex);
        }
    }

    private long left(Member member) {
        return this.limit.toNanos() - (this.nanoTime.getAsLong() - member.since);
    }

    private void complete(List<Member> members, @Nullable List<SendResult> results, @Nullable Throwable failure) {
        if (results != null) {
            for (int i = 0; i < members.size(); i++) {
                members.get(i).answer.complete(List.of(results.get(i)));
            }
            return;
        }
        Throwable cause = StoreFailures.unwrap((failure != null) ? failure : new IllegalStateException());
        if (members.size() == 1) {
            members.get(0).answer.completeExceptionally(cause);
        }
        else if (cause instanceof StoreRefusedException refused && refused.effect() == Effect.NONE) {
            // Perhaps one of the messages is the reason.
            members.forEach((member) -> sendAlone(member, refused));
        }
        else {
            members.forEach((member) -> member.answer.completeExceptionally(copyOf(cause)));
        }
    }

    private void sendAlone(Member member, StoreRefusedException refused) {
        if (left(member) < this.limit.toNanos() / LEAST_PART) {
            member.answer.completeExceptionally(copyOf(refused));
            return;
        }
        call(List.of(member)).whenComplete((results, failure) -> complete(List.of(member), results, failure));
    }

    /** Returns an exception that no other caller gets. */
    private static Throwable copyOf(Throwable cause) {
        if (cause instanceof StoreRefusedException refused) {
            return new StoreRefusedException(String.valueOf(refused.getMessage()), refused.effect(),
                    StoreFailures.beneath(refused));
        }
        if (cause instanceof StoreUnavailableException unavailable) {
            return new StoreUnavailableException(String.valueOf(unavailable.getMessage()), unavailable.effect(),
                    StoreFailures.beneath(unavailable));
        }
        return new StoreUnavailableException("A call of several messages failed: " + cause, Effect.UNKNOWN, cause);
    }

    private void failLate(List<Member> late) {
        fail(late, ("Redis did not answer earlier calls to 'schedule' within %d ms, so this one was not sent; nothing "
                + "was stored")
            .formatted(this.limit.toMillis()), Effect.NONE, null);
    }

    private static void fail(List<Member> members, String reason, Effect effect, @Nullable Throwable cause) {
        members.forEach(
                (member) -> member.answer.completeExceptionally(new StoreUnavailableException(reason, effect, cause)));
    }

    /** Stores messages of one partition. */
    @FunctionalInterface
    interface Call {

        /**
         * Stores messages.
         * @param limit after which the call is cancelled
         */
        CompletableFuture<List<SendResult>> schedule(PartitionTarget target, List<NewMessage> messages, Duration limit);

    }

    /** Holds a message that waits or was sent. */
    private static final class Member {

        private final PartitionTarget target;

        private final NewMessage message;

        private final CompletableFuture<List<SendResult>> answer;

        /** When it was to be sent; set once, when it begins to wait. */
        private long since;

        Member(PartitionTarget target, NewMessage message, CompletableFuture<List<SendResult>> answer) {
            this.target = target;
            this.message = message;
            this.answer = answer;
        }

        int bytes() {
            return this.message.envelope().length;
        }

    }

    /** Collects the messages of a call, and those that have waited for too long. */
    private static final class Batch {

        private final List<Member> members = new ArrayList<>(4);

        private final List<Member> late = new ArrayList<>(0);

        /** Whether no other call was pending when this one began. */
        private boolean alone;

        /** Whether the call has ended without another one. */
        private boolean ended;

    }

    /** Holds the sends of a partition; guarded by itself. */
    private static final class PartitionSends {

        /** How much a call counts in the average at most, which is over as many calls. */
        private static final int LARGE = 8;

        /** How slowly the round trip grows. */
        private static final int GROWTH = 32;

        private final Deque<Member> waiting = new ArrayDeque<>();

        private long waitingBytes;

        private int calls;

        /** How many calls may be pending, unless a full one waits. */
        private int mostCalls = MAX_CALLS;

        /** The exponential average of the number of messages in a call. */
        private double averageSize = 1;

        /** About the least time of an answer, in nanoseconds; 0 before the first. */
        private long roundTrip;

        /** Adds a message that waits; returns whether a call begins. */
        synchronized boolean add(Member member, LongSupplier nanoTime) {
            // Here, so that messages wait in the order of their times.
            member.since = nanoTime.getAsLong();
            this.waiting.add(member);
            this.waitingBytes += member.bytes();
            boolean begins = this.calls < most();
            this.calls += begins ? 1 : 0;
            return begins;
        }

        /**
         * Records the time of an answer. Other calls make it longer, so that only a call
         * without others makes the round trip longer.
         */
        synchronized void answered(long nanos, boolean alone) {
            if (this.roundTrip == 0 || nanos < this.roundTrip) {
                this.roundTrip = nanos;
            }
            else if (alone) {
                this.roundTrip += (nanos - this.roundTrip) / GROWTH;
            }
        }

        /**
         * Ends a call if no message waits, or enough others are pending, whose answers
         * send those; returns whether it has ended.
         */
        synchronized boolean retire(Batch batch) {
            if (!batch.ended && (this.waiting.isEmpty() || this.calls > most())) {
                batch.ended = true;
                this.calls--;
            }
            return batch.ended;
        }

        /** Ends a call; returns all that wait if no answer of another one sends them. */
        synchronized List<Member> abort(@Nullable Batch batch) {
            if (batch == null || !batch.ended) {
                this.calls--;
            }
            if (batch != null) {
                batch.ended = true;
            }
            if (this.calls > 0) {
                return List.of();
            }
            List<Member> unsent = List.copyOf(this.waiting);
            this.waiting.clear();
            this.waitingBytes = 0;
            return unsent;
        }

        private int most() {
            boolean full = this.waiting.size() >= MessageStore.BATCH_LIMIT || this.waitingBytes >= MAX_BYTES;
            long distant = Math.min(this.roundTrip / CALL_NANOS, MAX_DISTANT_CALLS);
            return (int) Math.max(full ? MAX_CALLS : this.mostCalls, distant);
        }

        /**
         * Takes the messages of a call, in the order in which they came; ends the call if
         * none wait.
         */
        synchronized void take(Batch batch, Predicate<Member> isLate) {
            int bytes = 0;
            for (Member member = this.waiting.peek(); member != null; member = this.waiting.peek()) {
                bytes += member.bytes();
                boolean full = batch.members.size() == MessageStore.BATCH_LIMIT
                        || (bytes > MAX_BYTES && !batch.members.isEmpty());
                if (full) {
                    break;
                }
                boolean late = isLate.test(member);
                (late ? batch.late : batch.members).add(member);
                this.waiting.remove();
                this.waitingBytes -= member.bytes();
                bytes -= late ? member.bytes() : 0;
            }
            batch.alone = this.calls == 1;
            if (batch.members.isEmpty()) {
                this.calls--;
                batch.ended = true;
            }
            else {
                recordCall(batch.members.size());
            }
        }

        private void recordCall(int size) {
            this.averageSize += (Math.min(size, LARGE) - this.averageSize) / LARGE;
            if (this.averageSize >= 3) {
                this.mostCalls = MAX_LARGE_CALLS;
            }
            else if (this.averageSize < 2) {
                this.mostCalls = MAX_CALLS;
            }
        }

    }

}

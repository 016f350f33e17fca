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

import io.delayqueue.DelayQueueException;
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
 * call waits.
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
        Member member = new Member(target, message, this.nanoTime.getAsLong());
        if (sends.add(member)) {
            send(sends, take(sends));
        }
        return member.answer();
    }

    /** Makes a call, and further ones with the messages that wait when it is answered. */
    private void send(PartitionSends sends, List<Member> first) {
        List<Member> members = first;
        while (!members.isEmpty()) {
            List<Member> sent = members;
            CompletableFuture<List<SendResult>> answer = call(sent);
            if (!answer.isDone()) {
                answer.whenComplete((results, failure) -> {
                    try {
                        send(sends, next(sends));
                    }
                    finally {
                        complete(sent, results, failure);
                    }
                });
                return;
            }
            // In a loop, or calls that fail at once would exhaust the stack.
            members = next(sends);
            answer.whenComplete((results, failure) -> complete(sent, results, failure));
        }
    }

    private CompletableFuture<List<SendResult>> call(List<Member> members) {
        Member first = members.get(0);
        try {
            long left = left(first);
            // The whole limit if it did not wait, as exceptions name the limit.
            boolean waited = this.limit.toNanos() - left >= LEAST_WAIT.toNanos();
            return this.call.schedule(first.target(), members.stream().map(Member::message).toList(),
                    waited ? Duration.ofNanos(left) : this.limit);
        }
        catch (Throwable ex) {
            // An error as well, or the call would never end.
            return CompletableFuture.failedFuture(ex);
        }
    }

    /** Returns the messages of the next call; none if a call ends without another one. */
    private List<Member> next(PartitionSends sends) {
        return sends.retire() ? List.of() : take(sends);
    }

    /** Returns the messages of a call, and fails those that have waited for too long. */
    private List<Member> take(PartitionSends sends) {
        List<Member> late = new ArrayList<>(0);
        List<Member> members = sends.take((member) -> left(member) < this.limit.toNanos() / LEAST_PART, late);
        late.forEach((member) -> member.answer()
            .completeExceptionally(new StoreUnavailableException(
                    ("Redis did not answer earlier calls to 'schedule' within %d ms, so this one was not sent; "
                            + "nothing was stored")
                        .formatted(this.limit.toMillis()),
                    Effect.NONE, null)));
        return members;
    }

    private long left(Member member) {
        return this.limit.toNanos() - (this.nanoTime.getAsLong() - member.since());
    }

    private void complete(List<Member> members, @Nullable List<SendResult> results, @Nullable Throwable failure) {
        if (results != null) {
            for (int i = 0; i < members.size(); i++) {
                members.get(i).answer().complete(List.of(results.get(i)));
            }
            return;
        }
        Throwable cause = StoreFailures.unwrap((failure != null) ? failure : new IllegalStateException());
        if (members.size() == 1) {
            members.get(0).answer().completeExceptionally(cause);
        }
        else if (cause instanceof StoreRefusedException refused && refused.effect() == Effect.NONE) {
            // Perhaps one of the messages is the reason.
            members.forEach(this::sendAlone);
        }
        else {
            members.forEach((member) -> member.answer().completeExceptionally(copyOf(cause)));
        }
    }

    private void sendAlone(Member member) {
        call(List.of(member)).whenComplete((results, failure) -> complete(List.of(member), results, failure));
    }

    /** Returns an exception that no other caller gets. */
    private static Throwable copyOf(Throwable cause) {
        if (cause instanceof StoreUnavailableException || cause instanceof StoreRefusedException) {
            DelayQueueException known = (DelayQueueException) cause;
            String message = String.valueOf(known.getMessage());
            return (cause instanceof StoreRefusedException)
                    ? new StoreRefusedException(message, known.effect(), StoreFailures.beneath(cause))
                    : new StoreUnavailableException(message, known.effect(), StoreFailures.beneath(cause));
        }
        return cause;
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

    /**
     * Holds a message, and when it was to be sent.
     */
    private record Member(PartitionTarget target, NewMessage message, long since,
            CompletableFuture<List<SendResult>> answer) {

        Member(PartitionTarget target, NewMessage message, long since) {
            this(target, message, since, new CompletableFuture<>());
        }

        int bytes() {
            return this.message.envelope().length;
        }

    }

    /** Holds the sends of a partition; guarded by itself. */
    private static final class PartitionSends {

        /** How much a call counts in the average at most, which is over as many calls. */
        private static final int LARGE = 8;

        private final Deque<Member> waiting = new ArrayDeque<>();

        private long waitingBytes;

        private int calls;

        /** How many calls may be pending, unless a full one waits. */
        private int mostCalls = MAX_CALLS;

        /** The exponential average of the number of messages in a call. */
        private double averageSize = 1;

        /** Adds a message that waits; returns whether a call begins. */
        synchronized boolean add(Member member) {
            this.waiting.add(member);
            this.waitingBytes += member.bytes();
            boolean begins = this.calls < most();
            this.calls += begins ? 1 : 0;
            return begins;
        }

        /**
         * Ends a call if enough others are pending, whose answers send what waits;
         * returns whether it has ended.
         */
        synchronized boolean retire() {
            boolean retires = this.calls > most();
            this.calls -= retires ? 1 : 0;
            return retires;
        }

        private int most() {
            boolean full = this.waiting.size() >= MessageStore.BATCH_LIMIT || this.waitingBytes >= MAX_BYTES;
            return full ? MAX_CALLS : this.mostCalls;
        }

        /**
         * Takes the messages of a call, in the order in which they came; ends the call if
         * none wait.
         */
        synchronized List<Member> take(Predicate<Member> isLate, List<Member> late) {
            List<Member> members = new ArrayList<>();
            int bytes = 0;
            for (Member member = this.waiting.peek(); member != null; member = this.waiting.peek()) {
                bytes += member.bytes();
                boolean full = members.size() == MessageStore.BATCH_LIMIT || (bytes > MAX_BYTES && !members.isEmpty());
                if (full) {
                    break;
                }
                this.waiting.remove();
                this.waitingBytes -= member.bytes();
                if (isLate.test(member)) {
                    late.add(member);
                    bytes -= member.bytes();
                }
                else {
                    members.add(member);
                }
            }
            if (members.isEmpty()) {
                this.calls--;
            }
            else {
                recordCall(members.size());
            }
            return members;
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

package io.delayqueue.template;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.BatchSendException;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.DelayedMessage;
import io.delayqueue.QueueName;
import io.delayqueue.SendResult;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.engine.MessageStore;
import io.delayqueue.engine.Partition;
import org.jspecify.annotations.Nullable;

/**
 * Stores many messages in few calls, a few of them under way at a time, and accounts for
 * every message if one call fails. Messages of one id reach their queue in the order
 * given: they never share a call, nor are two of their calls under way together.
 * Thread-safe.
 */
final class BatchSender {

    /** Bounds what one call makes the store do, and the others wait for. */
    private static final int MAX_CHUNK_BYTES = 1 << 20;

    private static final int MAX_IN_FLIGHT = 4;

    private final MessageStore store;

    private final StoreCalls calls;

    BatchSender(MessageStore store, StoreCalls calls) {
        this.store = store;
        this.calls = calls;
    }

    /**
     * Stores messages.
     * @return what happened to each, in the order of {@code messages}
     * @throws BatchSendException if a call failed; no further one was begun then, and
     * those under way were awaited
     */
    List<SendResult> send(List<PreparedMessage> messages) {
        Batch batch = new Batch(messages);
        for (Chunk chunk : chunks(messages)) {
            while (batch.hasToWaitBefore(chunk)) {
                batch.settleOldest();
            }
            if (batch.failure != null) {
                break;
            }
            batch.begin(chunk);
        }
        while (!batch.inFlight.isEmpty()) {
            batch.settleOldest();
        }
        return batch.conclude();
    }

    private static List<Chunk> chunks(List<PreparedMessage> messages) {
        List<Chunk> chunks = new ArrayList<>();
        Map<QueueName, Chunk> open = new LinkedHashMap<>();
        for (int position = 0; position < messages.size(); position++) {
            PreparedMessage message = messages.get(position);
            Chunk chunk = open.get(message.queue());
            if (chunk == null || !chunk.hasRoomFor(message)) {
                chunk = new Chunk(message.queue());
                chunks.add(chunk);
                open.put(message.queue(), chunk);
            }
            chunk.add(position, message);
        }
        return chunks;
    }

    private static Effect effectOf(RuntimeException failure) {
        return (failure instanceof StoreUnavailableException unavailable) ? unavailable.effect()
                : (failure instanceof StoreRefusedException) ? Effect.NONE : Effect.UNKNOWN;
    }

    /** Messages for one call. */
    private static final class Chunk {

        private final QueueName queue;

        private final List<Integer> positions = new ArrayList<>();

        private final List<PreparedMessage> messages = new ArrayList<>();

        private final Set<String> ids = new HashSet<>();

        private int bytes;

        Chunk(QueueName queue) {
            this.queue = queue;
        }

        boolean hasRoomFor(PreparedMessage message) {
            return this.messages.size() < MessageStore.BATCH_LIMIT && this.bytes <= MAX_CHUNK_BYTES - message.size()
                    && !this.ids.contains(message.id());
        }

        void add(int position, PreparedMessage message) {
            this.positions.add(position);
            this.messages.add(message);
            this.ids.add(message.id());
            this.bytes += message.size();
        }

        boolean sharesAnIdWith(Chunk other) {
            return this.queue.equals(other.queue) && this.ids.stream().anyMatch(other.ids::contains);
        }

    }

    private record Call(Chunk chunk, CompletableFuture<List<SendResult>> answer) {
    }

    /** What is known of the messages of one send. */
    private final class Batch {

        private final List<PreparedMessage> messages;

        private final @Nullable SendResult[] results;

        /** Where neither a result nor this is set, nothing is stored. */
        private final boolean[] unknown;

        private final Deque<Call> inFlight = new ArrayDeque<>();

        private @Nullable RuntimeException failure;

        Batch(List<PreparedMessage> messages) {
            this.messages = messages;
            this.results = new SendResult[messages.size()];
            this.unknown = new boolean[messages.size()];
        }

        boolean hasToWaitBefore(Chunk chunk) {
            return this.failure == null && (this.inFlight.size() == MAX_IN_FLIGHT
                    || this.inFlight.stream().anyMatch((call) -> call.chunk().sharesAnIdWith(chunk)));
        }

        void begin(Chunk chunk) {
            CompletableFuture<List<SendResult>> answer;
            try {
                answer = BatchSender.this.store.schedule(Partition.first(chunk.queue),
                        chunk.messages.stream().map(PreparedMessage::written).toList());
            }
            catch (RuntimeException ex) {
                // Not as agreed, but the calls under way must be accounted for.
                answer = CompletableFuture.failedFuture(ex);
            }
            this.inFlight.add(new Call(chunk, answer));
        }

        void settleOldest() {
            Call call = this.inFlight.remove();
            try {
                List<SendResult> answers = BatchSender.this.calls.await(call.answer(), "schedule");
                for (int i = 0; i < call.chunk().positions.size(); i++) {
                    this.results[call.chunk().positions.get(i)] = answers.get(i);
                }
            }
            catch (RuntimeException ex) {
                this.failure = (this.failure != null) ? this.failure : ex;
                if (effectOf(ex) == Effect.UNKNOWN) {
                    call.chunk().positions.forEach((position) -> this.unknown[position] = true);
                }
            }
        }

        List<SendResult> conclude() {
            if (this.failure == null) {
                return Arrays.stream(this.results).map(Objects::requireNonNull).toList();
            }
            List<SendResult> stored = new ArrayList<>();
            List<DelayedMessage> notStored = new ArrayList<>();
            List<DelayedMessage> notKnown = new ArrayList<>();
            for (int i = 0; i < this.results.length; i++) {
                SendResult result = this.results[i];
                if (result != null) {
                    stored.add(result);
                }
                else {
                    (this.unknown[i] ? notKnown : notStored).add(this.messages.get(i).identified());
                }
            }
            throw new BatchSendException(stored, notStored, notKnown, this.failure);
        }

    }

}

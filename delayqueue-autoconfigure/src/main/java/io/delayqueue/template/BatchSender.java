package io.delayqueue.template;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.BatchSendException;
import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.DelayedMessage;
import io.delayqueue.QueueName;
import io.delayqueue.SendResult;
import io.delayqueue.store.MessageEventRecorder;
import io.delayqueue.store.MessageEventRecorderFactory;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.routing.PartitionRoute;
import io.delayqueue.store.routing.PartitionRouter;
import io.delayqueue.store.routing.RoutedSendResult;
import org.jspecify.annotations.Nullable;

/**
 * Stores many messages in few calls, some of them concurrently, and accounts for every
 * message if a call fails. Keeps the order of messages with the same id: they are sent in
 * separate calls that do not overlap. Thread-safe.
 */
final class BatchSender {

    /** Bounds the work of one call, because it blocks other calls of the store. */
    private static final int MAX_CHUNK_BYTES = 1 << 20;

    private static final int MAX_IN_FLIGHT = 4;

    private final PartitionRouter router;

    private final BlockingStoreCalls calls;

    private final MessageEventRecorderFactory events;

    private final HandledIdSendWarning ownIds;

    BatchSender(PartitionRouter router, BlockingStoreCalls calls, MessageEventRecorderFactory events,
            HandledIdSendWarning ownIds) {
        this.ownIds = ownIds;
        this.router = router;
        this.calls = calls;
        this.events = events;
    }

    /**
     * Stores messages.
     * @return the result of each, in the order of {@code messages}
     * @throws BatchSendException if a call failed; no further call was started, and those
     * in progress were awaited
     */
    List<SendResult> send(List<PreparedMessage> messages) {
        Batch batch = new Batch(messages);
        for (Chunk chunk : batch.chunks()) {
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

    private static Effect effectOf(Throwable failure) {
        return (failure instanceof DelayQueueException known) ? known.effect() : Effect.UNKNOWN;
    }

    /** Holds the messages of one call. */
    private static final class Chunk {

        private final PartitionRoute route;

        private final List<Integer> positions = new ArrayList<>();

        private final List<PreparedMessage> messages = new ArrayList<>();

        /** The ids that other messages may have too; generated ids are all different. */
        private final Set<String> ids = new HashSet<>();

        private int bytes;

        Chunk(PartitionRoute route) {
            this.route = route;
        }

        boolean hasRoomFor(PreparedMessage message) {
            return this.messages.size() < MessageStore.BATCH_LIMIT && this.bytes <= MAX_CHUNK_BYTES - message.size()
                    && (message.written().generated() || !this.ids.contains(message.id()));
        }

        void add(int position, PreparedMessage message) {
            this.positions.add(position);
            this.messages.add(message);
            if (!message.written().generated()) {
                this.ids.add(message.id());
            }
            this.bytes += message.size();
        }

        boolean sharesAnIdWith(Chunk other) {
            return !this.ids.isEmpty() && this.route.queue().equals(other.route.queue())
                    && this.ids.stream().anyMatch(other.ids::contains);
        }

    }

    private record Call(Chunk chunk, CompletableFuture<List<RoutedSendResult>> answer) {
    }

    /** Holds the state of the messages of one send. */
    private final class Batch {

        private final List<PreparedMessage> messages;

        private final @Nullable SendResult[] results;

        /** A message with neither a result nor this flag is not stored. */
        private final boolean[] unknown;

        private final Deque<Call> inFlight = new ArrayDeque<>();

        private @Nullable RuntimeException failure;

        Batch(List<PreparedMessage> messages) {
            this.messages = messages;
            this.results = new SendResult[messages.size()];
            this.unknown = new boolean[messages.size()];
        }

        /**
         * Splits the messages into calls. Returns none if the layout of a queue cannot be
         * read.
         */
        List<Chunk> chunks() {
            PartitionRoute[] routes = new PartitionRoute[this.messages.size()];
            try {
                Map<QueueName, List<Integer>> byQueue = new LinkedHashMap<>();
                for (int position = 0; position < routes.length; position++) {
                    byQueue.computeIfAbsent(this.messages.get(position).queue(), (queue) -> new ArrayList<>())
                        .add(position);
                }
                byQueue.forEach((queue, positions) -> findRoutes(queue, positions, routes));
            }
            catch (RuntimeException ex) {
                this.failure = ex;
                return List.of();
            }
            List<Chunk> chunks = new ArrayList<>();
            Map<PartitionRoute, Chunk> open = new HashMap<>();
            Chunk chunk = null;
            for (int position = 0; position < routes.length; position++) {
                PreparedMessage message = this.messages.get(position);
                if (chunk == null || chunk.route != routes[position]) { // mostly one
                                                                        // instance
                    chunk = open.get(routes[position]);
                }
                if (chunk == null || !chunk.hasRoomFor(message)) {
                    chunk = new Chunk(routes[position]);
                    chunks.add(chunk);
                    open.put(routes[position], chunk);
                }
                chunk.add(position, message);
            }
            return chunks;
        }

        private void findRoutes(QueueName queue, List<Integer> positions, PartitionRoute[] routes) {
            List<NewMessage> written = positions.stream()
                .map((position) -> this.messages.get(position).written())
                .toList();
            List<PartitionRoute> found = BatchSender.this.calls.await(BatchSender.this.router.routes(queue, written),
                    "partitions");
            for (int i = 0; i < found.size(); i++) {
                routes[positions.get(i)] = found.get(i);
            }
        }

        boolean hasToWaitBefore(Chunk chunk) {
            return this.failure == null && (this.inFlight.size() == MAX_IN_FLIGHT
                    || this.inFlight.stream().anyMatch((call) -> call.chunk().sharesAnIdWith(chunk)));
        }

        void begin(Chunk chunk) {
            CompletableFuture<List<RoutedSendResult>> answer;
            try {
                answer = BatchSender.this.router.schedule(chunk.route,
                        chunk.messages.stream().map(PreparedMessage::written).toList());
            }
            catch (RuntimeException ex) {
                // Violates the contract, but the calls in progress must be accounted for.
                answer = CompletableFuture.failedFuture(ex);
            }
            this.inFlight.add(new Call(chunk, answer));
        }

        void settleOldest() {
            Call call = this.inFlight.remove();
            try {
                List<RoutedSendResult> answers = BatchSender.this.calls.await(call.answer(), "schedule");
                for (int i = 0; i < call.chunk().positions.size(); i++) {
                    int position = call.chunk().positions.get(i);
                    Throwable failed = answers.get(i).failure();
                    if (failed != null) {
                        failed(position, BlockingStoreCalls.raised(failed, "schedule"));
                    }
                    this.results[position] = answers.get(i).result();
                    if (this.results[position] != null) {
                        eventsOf(position).sent(this.results[position].outcome());
                        answered(this.messages.get(position), this.results[position]);
                    }
                }
            }
            catch (RuntimeException ex) {
                call.chunk().positions.forEach((position) -> failed(position, ex));
            }
        }

        /** Called on the sending thread, the only one that records results. */
        private void answered(PreparedMessage message, SendResult result) {
            if (HandledIdSendWarning.isOwn(message)) {
                BatchSender.this.ownIds.answered(message, result);
            }
        }

        private MessageEventRecorder eventsOf(int position) {
            return BatchSender.this.events.of(this.messages.get(position).queue());
        }

        private void failed(int position, RuntimeException failure) {
            this.failure = (this.failure != null) ? this.failure : failure;
            this.unknown[position] = effectOf(failure) != Effect.NONE;
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
                    eventsOf(i).sendFailed();
                    (this.unknown[i] ? notKnown : notStored).add(this.messages.get(i).identified());
                }
            }
            throw new BatchSendException(stored, notStored, notKnown, this.failure);
        }

    }

}

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
import io.delayqueue.StoreRefusedException;
import io.delayqueue.StoreUnavailableException;
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

    private final boolean independent;

    /**
     * Creates a sender.
     * @param independent whether messages are sent even if others have failed. After a
     * call without an answer no further one is made for its queue. After one that had no
     * answer or waited for replicas in vain, no further one is made for any queue once
     * the time limit of a single answer has passed. An interrupt of the caller does not
     * end the send
     */
    BatchSender(PartitionRouter router, BlockingStoreCalls calls, MessageEventRecorderFactory events,
            HandledIdSendWarning ownIds, boolean independent) {
        this.independent = independent;
        this.ownIds = ownIds;
        this.router = router;
        this.calls = calls;
        this.events = events;
    }

    /**
     * Stores messages.
     * @return the result of each, in the order of {@code messages}
     * @throws BatchSendException if a call failed; calls in progress were awaited, and a
     * sender whose messages are not independent started no further one
     */
    List<SendResult> send(List<PreparedMessage> messages) {
        Batch batch = new Batch(messages);
        try {
            send(batch);
        }
        finally {
            if (batch.interrupted) {
                Thread.currentThread().interrupt();
            }
        }
        return batch.conclude();
    }

    private static void send(Batch batch) {
        for (Chunk chunk : batch.chunks()) {
            while (batch.hasToWaitBefore(chunk)) {
                batch.settleOldest();
            }
            if (!batch.isStopped(chunk.route.queue())) {
                batch.begin(chunk);
            }
        }
        while (!batch.inFlight.isEmpty()) {
            batch.settleOldest();
        }
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

        private final Set<QueueName> failedQueues = new HashSet<>();

        /** The queues of calls that failed without an answer of the store. */
        private final Set<QueueName> unanswered = new HashSet<>();

        /** Whether a call had no answer, or waited for replicas in vain. */
        private boolean slow;

        private final long begin = System.nanoTime();

        private boolean interrupted;

        Batch(List<PreparedMessage> messages) {
            this.messages = messages;
            this.results = new SendResult[messages.size()];
            this.unknown = new boolean[messages.size()];
        }

        /** Returns whether no further call may be made for a queue. */
        boolean isStopped(QueueName queue) {
            if (!BatchSender.this.independent) {
                return this.failure != null;
            }
            return this.unanswered.contains(queue) || (this.slow && BatchSender.this.calls.isLimitPassed(this.begin));
        }

        /**
         * Splits the messages into calls, without those of queues whose layout cannot be
         * read.
         */
        List<Chunk> chunks() {
            @Nullable PartitionRoute[] routes = new PartitionRoute[this.messages.size()];
            Map<QueueName, List<Integer>> byQueue = new LinkedHashMap<>();
            for (int position = 0; position < routes.length; position++) {
                QueueName queue = this.messages.get(position).queue();
                byQueue.computeIfAbsent(queue, (name) -> new ArrayList<>()).add(position);
            }
            byQueue.forEach((name, positions) -> findRoutes(name, positions, routes));
            return chunks(routes);
        }

        private List<Chunk> chunks(@Nullable PartitionRoute[] routes) {
            List<Chunk> chunks = new ArrayList<>();
            Map<PartitionRoute, Chunk> open = new HashMap<>();
            Chunk chunk = null;
            for (int position = 0; position < routes.length; position++) {
                PartitionRoute route = routes[position];
                if (route == null) {
                    continue;
                }
                PreparedMessage message = this.messages.get(position);
                if (chunk == null || chunk.route != route) { // mostly one instance
                    chunk = open.get(route);
                }
                if (chunk == null || !chunk.hasRoomFor(message)) {
                    chunk = new Chunk(route);
                    chunks.add(chunk);
                    open.put(route, chunk);
                }
                chunk.add(position, message);
            }
            return chunks;
        }

        private void findRoutes(QueueName queue, List<Integer> positions, @Nullable PartitionRoute[] routes) {
            if (isStopped(queue)) {
                return;
            }
            List<NewMessage> written = positions.stream()
                .map((position) -> this.messages.get(position).written())
                .toList();
            try {
                CompletableFuture<List<PartitionRoute>> answer = BatchSender.this.router.routes(queue, written);
                List<PartitionRoute> found = await(answer, "partitions");
                for (int i = 0; i < found.size(); i++) {
                    routes[positions.get(i)] = found.get(i);
                }
            }
            catch (RuntimeException ex) {
                failed(queue, ex);
            }
        }

        boolean hasToWaitBefore(Chunk chunk) {
            return !isStopped(chunk.route.queue()) && (this.inFlight.size() == MAX_IN_FLIGHT
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
                List<RoutedSendResult> answers = await(call.answer(), "schedule");
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

        /**
         * Waits for an answer, after an interrupt as well if the messages are
         * independent. The flag stays cleared until the end, because the next call may
         * check it.
         */
        private <T> T await(CompletableFuture<T> answer, String operation) {
            if (!BatchSender.this.independent) {
                return BatchSender.this.calls.await(answer, operation);
            }
            long start = System.nanoTime();
            while (true) {
                try {
                    return BatchSender.this.calls.awaitInterruptibly(answer, operation, start);
                }
                catch (InterruptedException ex) {
                    this.interrupted = true;
                }
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
            failed(this.messages.get(position).queue(), failure);
            this.unknown[position] = effectOf(failure) != Effect.NONE;
        }

        /**
         * Records the first failure as the cause, and the first one of each other queue
         * as suppressed in it.
         */
        private void failed(QueueName queue, RuntimeException failure) {
            boolean first = this.failedQueues.add(queue);
            if (this.failure == null) {
                this.failure = failure;
            }
            else if (first && this.failure != failure) {
                this.failure.addSuppressed(failure);
            }
            this.slow |= !(failure instanceof StoreRefusedException);
            if (failure instanceof StoreUnavailableException) {
                this.unanswered.add(queue);
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
                    eventsOf(i).sendFailed();
                    (this.unknown[i] ? notKnown : notStored).add(this.messages.get(i).identified());
                }
            }
            throw new BatchSendException(stored, notStored, notKnown, this.failure);
        }

    }

}

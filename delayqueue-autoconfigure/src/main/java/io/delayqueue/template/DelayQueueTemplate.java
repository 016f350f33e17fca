package io.delayqueue.template;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;

import io.delayqueue.BatchSendException;
import io.delayqueue.CancelResult;
import io.delayqueue.DeadLetterOperations;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedMessage;
import io.delayqueue.MessageLimits;
import io.delayqueue.PauseResult;
import io.delayqueue.QueueName;
import io.delayqueue.QueueStatistics;
import io.delayqueue.ReceivedMessage;
import io.delayqueue.RescheduleResult;
import io.delayqueue.ResumeResult;
import io.delayqueue.ScheduleOperations;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.StoredMessage;
import io.delayqueue.consume.LeaseSettler;
import io.delayqueue.journal.Journal;
import io.delayqueue.observation.MessageObservations;
import io.delayqueue.store.DeadLetterPublisher;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.MessageEventRecorder;
import io.delayqueue.store.MessageGroupChangeException;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.PartitionLayout;
import io.delayqueue.store.envelope.EnvelopeCodec;
import io.delayqueue.store.routing.PartitionRouter;
import io.delayqueue.store.routing.StoreComponents;
import org.jspecify.annotations.Nullable;

import org.springframework.context.ApplicationEventPublisher;

/**
 * Sends, receives and manages messages through a store. Checks arguments and writes
 * payloads on the caller's thread, before it calls the store. Thread-safe.
 *
 * @see io.delayqueue.DelayQueueOperations
 */
public class DelayQueueTemplate implements DelayQueueOperations {

    private final StoreComponents components;

    private final PartitionRouter router;

    private final MessageObservations observations;

    private final boolean afterCommitDefault;

    private final BlockingStoreCalls calls;

    private final MessagePreparer writer;

    private final @Nullable Journal journal;

    private final HandledIdSendWarning ownIds = new HandledIdSendWarning();

    private final BatchSender batchSender;

    private final AfterCommitSender afterCommitSends;

    private final Receiver receiver;

    /**
     * Creates a template. It holds no thread or connection, so it need not be closed.
     * @param components the store
     * @param codec writes and reads messages
     * @param settings how to send and receive
     * @param events publishes failed after-commit sends and dead letters
     * @param nanoTime the monotonic clock, such as {@code System::nanoTime}
     */
    public DelayQueueTemplate(StoreComponents components, EnvelopeCodec codec, TemplateSettings settings,
            ApplicationEventPublisher events, LongSupplier nanoTime) {
        this(components, codec, settings, events, nanoTime, null);
    }

    /**
     * Creates a template that records requests on some queues in a journal first.
     * @param journal the journal; {@code null} for none
     */
    public DelayQueueTemplate(StoreComponents components, EnvelopeCodec codec, TemplateSettings settings,
            ApplicationEventPublisher events, LongSupplier nanoTime, @Nullable Journal journal) {
        this.journal = journal;
        this.components = components;
        this.router = new PartitionRouter(components);
        this.observations = settings.observations();
        this.afterCommitDefault = settings.afterCommit();
        this.calls = new BlockingStoreCalls(settings.waitLimit());
        this.writer = new MessagePreparer(codec, settings);
        this.batchSender = new BatchSender(this.router, this.calls, components.events(), this.ownIds, false);
        BatchSender independent = new BatchSender(this.router, this.calls, components.events(), this.ownIds, true);
        this.afterCommitSends = new AfterCommitSender(independent, events);
        DeadLetterPublisher publisher = new DeadLetterPublisher(components.events(), events::publishEvent,
                Runnable::run);
        this.receiver = new Receiver(components, codec, new LeaseSettler(components, publisher), settings, nanoTime);
    }

    @Override
    public SendResult send(String queue, Object payload, Duration delay) {
        return send(DelayedMessage.builder(queue, payload).delay(delay).build());
    }

    @Override
    public SendResult send(String queue, Object payload, Instant dueAt) {
        return send(DelayedMessage.builder(queue, payload).dueAt(dueAt).build());
    }

    @Override
    public SendResult send(DelayedMessage message) {
        return this.observations.send(message, this::sendObserved);
    }

    private SendResult sendObserved(DelayedMessage message) {
        PreparedMessage prepared = this.writer.prepare(message);
        Journal recorder = journalOf(prepared.queue());
        if (recorder != null) {
            return record(recorder, prepared.queue(), List.of(prepared)).get(0);
        }
        if (waitsForCommit(message)) {
            this.afterCommitSends.add(prepared);
            return prepared.deferred();
        }
        MessageEventRecorder eventRecorder = this.components.events().of(prepared.queue());
        try {
            SendResult result = this.calls.await(schedule(prepared), "schedule");
            eventRecorder.sent(result.outcome());
            if (HandledIdSendWarning.isOwn(prepared)) {
                this.ownIds.answered(prepared, result);
            }
            return result;
        }
        catch (RuntimeException ex) {
            eventRecorder.sendFailed();
            throw prepared.named(ex);
        }
    }

    @Override
    public CompletableFuture<SendResult> sendAsync(DelayedMessage message) {
        return this.observations.sendAsync(message, this::sendObservedAsync);
    }

    private CompletableFuture<SendResult> sendObservedAsync(DelayedMessage message) {
        PreparedMessage prepared = this.writer.prepare(message);
        Journal recorder = journalOf(prepared.queue());
        if (recorder != null) {
            try {
                return recordAsync(recorder, prepared.queue(), List.of(prepared.written())).get(0);
            }
            catch (RuntimeException ex) {
                if (this.afterCommitSends.hasCommitAhead()) {
                    throw ex; // or the transaction would commit without the message
                }
                return CompletableFuture.failedFuture(ex);
            }
        }
        if (waitsForCommit(message)) {
            this.afterCommitSends.add(prepared);
            return CompletableFuture.completedFuture(prepared.deferred());
        }
        MessageEventRecorder eventRecorder = this.components.events().of(prepared.queue());
        boolean own = HandledIdSendWarning.isOwn(prepared);
        CompletableFuture<SendResult> result = new CompletableFuture<>();
        // Not thenApply, which would wrap the failure for code that uses the future.
        schedule(prepared).whenComplete((stored, failure) -> {
            if (failure != null) {
                eventRecorder.sendFailed();
                result.completeExceptionally(prepared.named(BlockingStoreCalls.unwrap(failure, "schedule")));
            }
            else {
                eventRecorder.sent(stored.outcome());
                if (own) {
                    this.ownIds.answered(prepared, stored);
                }
                result.complete(stored);
            }
        });
        return result;
    }

    @Override
    public List<SendResult> sendAll(Collection<DelayedMessage> messages) {
        return this.observations.sendAll(messages, this::sendAllObserved);
    }

    private List<SendResult> sendAllObserved(Collection<DelayedMessage> messages) {
        List<PreparedMessage> all = this.writer.prepareAll(messages);
        if (this.journal != null && all.stream().anyMatch((message) -> this.journal.covers(message.queue()))) {
            return sendAllByQueue(all);
        }
        return sendAllNowOrAfterCommit(all);
    }

    /**
     * Records the messages of queues with a journal first, those of a queue in one
     * transaction, then sends the others.
     * @throws BatchSendException if some are recorded, and others failed
     */
    private List<SendResult> sendAllByQueue(List<PreparedMessage> all) {
        Map<QueueName, List<PreparedMessage>> byQueue = new LinkedHashMap<>();
        List<PreparedMessage> others = new ArrayList<>();
        for (PreparedMessage message : all) {
            if (journalOf(message.queue()) != null) {
                byQueue.computeIfAbsent(message.queue(), (queue) -> new ArrayList<>()).add(message);
            }
            else {
                others.add(message);
            }
        }
        Map<PreparedMessage, SendResult> results = new IdentityHashMap<>();
        List<PreparedMessage> current = List.of();
        try {
            for (Map.Entry<QueueName, List<PreparedMessage>> recorded : byQueue.entrySet()) {
                current = recorded.getValue();
                put(results, current, record(Objects.requireNonNull(this.journal), recorded.getKey(), current));
            }
            current = others;
            put(results, others, sendAllNowOrAfterCommit(others));
        }
        catch (RuntimeException ex) {
            throw incomplete(all, results, current, ex);
        }
        return all.stream().map(results::get).toList();
    }

    /**
     * Returns the failure of some messages after others were recorded.
     * @param failed those that the call was about which has failed
     */
    private static RuntimeException incomplete(List<PreparedMessage> all, Map<PreparedMessage, SendResult> results,
            List<PreparedMessage> failed, RuntimeException failure) {
        // The caller's transaction decides about those that are deferred.
        if (results.isEmpty()
                || results.values().stream().anyMatch((result) -> result.outcome() == SendOutcome.DEFERRED)) {
            return failure;
        }
        List<SendResult> stored = new ArrayList<>(all.stream().map(results::get).filter(Objects::nonNull).toList());
        List<DelayedMessage> notStored = new ArrayList<>();
        List<DelayedMessage> unknown = new ArrayList<>();
        boolean none = failure instanceof StoreRefusedException && !(failure instanceof MessageGroupChangeException);
        if (failure instanceof BatchSendException batch) {
            stored.addAll(batch.stored());
            notStored.addAll(batch.notStored());
            unknown.addAll(batch.unknown());
        }
        else {
            failed.forEach((message) -> (none ? notStored : unknown).add(message.identified()));
        }
        Set<PreparedMessage> done = Collections.newSetFromMap(new IdentityHashMap<>());
        done.addAll(results.keySet());
        done.addAll(failed);
        all.stream()
            .filter((message) -> !done.contains(message))
            .map(PreparedMessage::identified)
            .forEach(notStored::add);
        return new BatchSendException(stored, notStored, unknown, failure);
    }

    private static void put(Map<PreparedMessage, SendResult> results, List<PreparedMessage> messages,
            List<SendResult> answers) {
        for (int i = 0; i < messages.size(); i++) {
            results.put(messages.get(i), answers.get(i));
        }
    }

    private List<SendResult> record(Journal recorder, QueueName queue, List<PreparedMessage> messages) {
        List<CompletableFuture<SendResult>> answers = recordAsync(recorder, queue,
                messages.stream().map(PreparedMessage::written).toList());
        return answers.stream().map((answer) -> this.calls.await(answer, "send")).toList();
    }

    /** Records messages, and counts those that fail. */
    private List<CompletableFuture<SendResult>> recordAsync(Journal recorder, QueueName queue,
            List<NewMessage> messages) {
        MessageEventRecorder eventRecorder = this.components.events().of(queue);
        List<CompletableFuture<SendResult>> answers;
        try {
            answers = recorder.send(queue, messages);
        }
        catch (RuntimeException ex) {
            messages.forEach((message) -> eventRecorder.sendFailed());
            throw ex;
        }
        answers.forEach((answer) -> answer.whenComplete((result, failure) -> {
            if (failure != null) {
                eventRecorder.sendFailed();
            }
        }));
        return answers;
    }

    private @Nullable Journal journalOf(QueueName queue) {
        return (this.journal != null && this.journal.covers(queue)) ? this.journal : null;
    }

    private List<SendResult> sendAllNowOrAfterCommit(List<PreparedMessage> all) {
        List<PreparedMessage> now = new ArrayList<>();
        List<PreparedMessage> later = new ArrayList<>();
        all.forEach((message) -> (waitsForCommit(message.message()) ? later : now).add(message));
        Iterator<SendResult> stored = sendNow(now, later).iterator();
        later.forEach(this.afterCommitSends::add);
        Iterator<PreparedMessage> deferred = later.iterator();
        List<SendResult> results = new ArrayList<>(all.size());
        for (PreparedMessage message : all) {
            results.add(waitsForCommit(message.message()) ? deferred.next().deferred() : stored.next());
        }
        return List.copyOf(results);
    }

    /** Discards messages that would wait for a commit if the others fail. */
    private List<SendResult> sendNow(List<PreparedMessage> now, List<PreparedMessage> later) {
        try {
            return this.batchSender.send(now);
        }
        catch (BatchSendException ex) {
            if (later.isEmpty()) {
                throw ex;
            }
            List<DelayedMessage> notStored = new ArrayList<>(ex.notStored());
            later.forEach((message) -> notStored.add(message.identified()));
            throw new BatchSendException(ex.stored(), notStored, ex.unknown(), ex);
        }
    }

    private boolean waitsForCommit(DelayedMessage message) {
        return message.afterCommit().orElse(this.afterCommitDefault) && this.afterCommitSends.hasCommitAhead();
    }

    /**
     * Returns how many requests of the calling thread's transaction wait for its commit:
     * deferred sends, and all requests on queues that have a journal.
     */
    public int waitingForCommit() {
        return this.afterCommitSends.waiting() + ((this.journal != null) ? this.journal.waitingForCommit() : 0);
    }

    private CompletableFuture<SendResult> schedule(PreparedMessage prepared) {
        return this.router.schedule(prepared.queue(), prepared.written());
    }

    @Override
    public Optional<ReceivedMessage> receive(String queue, Duration timeout) {
        MessageLimits.requireNotNegative("Timeout", timeout);
        return this.receiver.receive(new QueueName(queue), timeout);
    }

    @Override
    public CancelResult cancel(String queue, String id) {
        QueueName name = new QueueName(queue);
        Journal recorder = journalOf(name);
        if (recorder != null) {
            return this.calls.await(recorder.cancel(name, MessageLimits.requireId(id)), "cancel");
        }
        CancelResult result = this.calls.await(this.router.cancel(name, MessageLimits.requireId(id)), "cancel");
        if (result == CancelResult.CANCELLED) {
            this.components.events().of(name).cancelled();
        }
        return result;
    }

    @Override
    public RescheduleResult reschedule(String queue, String id, Duration delay) {
        return reschedule(queue, id, DueTime.after(MessageLimits.requireDelay(delay)));
    }

    @Override
    public RescheduleResult reschedule(String queue, String id, Instant dueAt) {
        return reschedule(queue, id, DueTime.at(MessageLimits.requireDueAt(dueAt)));
    }

    private RescheduleResult reschedule(String queue, String id, DueTime due) {
        QueueName name = new QueueName(queue);
        return this.calls.await(rescheduleAsync(name, MessageLimits.requireId(id), due), "reschedule");
    }

    private CompletableFuture<RescheduleResult> rescheduleAsync(QueueName queue, String id, DueTime due) {
        Journal recorder = journalOf(queue);
        return (recorder != null) ? recorder.reschedule(queue, id, due) : this.router.reschedule(queue, id, due);
    }

    @Override
    public Map<String, CancelResult> cancelAll(String queue, Collection<String> ids) {
        QueueName name = new QueueName(queue);
        Journal recorder = journalOf(name);
        if (recorder != null) {
            return this.calls.awaitEach(ids, "cancel", (id) -> recorder.cancel(name, id));
        }
        MessageEventRecorder eventRecorder = this.components.events().of(name);
        return this.calls.awaitEach(ids, "cancel", (id) -> this.router.cancel(name, id).thenApply((result) -> {
            if (result == CancelResult.CANCELLED) {
                eventRecorder.cancelled(); // immediately, as another answer may be
                                           // missing
            }
            return result;
        }));
    }

    @Override
    public Map<String, RescheduleResult> rescheduleAll(String queue, Collection<String> ids, Duration delay) {
        QueueName name = new QueueName(queue);
        DueTime due = DueTime.after(MessageLimits.requireDelay(delay));
        return this.calls.awaitEach(ids, "reschedule", (id) -> rescheduleAsync(name, id, due));
    }

    @Override
    public Optional<StoredMessage> find(String queue, String id) {
        return this.calls.await(this.router.find(new QueueName(queue), MessageLimits.requireId(id)), "find");
    }

    @Override
    public QueueStatistics statistics(String queue) {
        return this.calls.await(this.router.statistics(new QueueName(queue)), "statistics");
    }

    @Override
    public DeadLetterOperations deadLetters(String queue) {
        QueueName name = new QueueName(queue);
        return new DeadLetterTemplate(name, this.components, this.router, this.calls, journalOf(name));
    }

    @Override
    public ScheduleOperations schedules(String queue) {
        QueueName name = new QueueName(queue);
        return new ScheduleTemplate(name, this.components, this.calls, this.writer,
                (occurrence) -> sendOccurrence(name, occurrence));
    }

    private SendResult sendOccurrence(QueueName queue, NewMessage occurrence) {
        Journal recorder = journalOf(queue);
        if (recorder != null) { // Counts it when it is applied.
            return this.calls.await(recordAsync(recorder, queue, List.of(occurrence)).get(0), "trigger a schedule");
        }
        MessageEventRecorder eventRecorder = this.components.events().of(queue);
        try {
            SendResult result = this.calls.await(this.router.schedule(queue, occurrence), "trigger a schedule");
            eventRecorder.sent(result.outcome());
            return result;
        }
        catch (RuntimeException ex) {
            eventRecorder.sendFailed();
            throw ex;
        }
    }

    @Override
    public int repartition(String queue, int partitions) {
        return this.calls.await(this.components.partitions()
            .repartition(new QueueName(queue), PartitionLayout.requireCount(partitions)), "repartition");
    }

    @Override
    public PauseResult pause(String queue) {
        return pause(queue, (DueTime) null);
    }

    @Override
    public PauseResult pause(String queue, Duration time) {
        return pause(queue, DueTime.after(MessageLimits.requireNotNegative("Pause", time)));
    }

    @Override
    public PauseResult pause(String queue, Instant until) {
        return pause(queue, DueTime.at(MessageLimits.requireDueAt(until)));
    }

    private PauseResult pause(String queue, @Nullable DueTime until) {
        QueueName name = new QueueName(queue);
        this.components.registrar().register(name);
        return this.calls.await(this.components.partitions().pause(name, until), "pause");
    }

    @Override
    public ResumeResult resume(String queue) {
        return this.calls.await(this.components.partitions().resume(new QueueName(queue)), "resume");
    }

}

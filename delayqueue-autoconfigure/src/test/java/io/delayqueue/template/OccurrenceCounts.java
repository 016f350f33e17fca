package io.delayqueue.template;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

import io.delayqueue.QueueName;
import io.delayqueue.SendOutcome;
import io.delayqueue.SkipReason;
import io.delayqueue.store.MessageEventRecorder;
import io.delayqueue.store.MessageEventRecorderFactory;

/** Counts the sends, those that failed, and the occurrences that were skipped. */
final class OccurrenceCounts implements MessageEventRecorderFactory, MessageEventRecorder {

    final List<SendOutcome> sent = new CopyOnWriteArrayList<>();

    final AtomicInteger failed = new AtomicInteger();

    final Map<SkipReason, Long> skipped = new EnumMap<>(SkipReason.class);

    @Override
    public MessageEventRecorder of(QueueName queue) {
        return this;
    }

    @Override
    public MessageEventRecorder of(QueueName queue, String listenerId) {
        return this;
    }

    @Override
    public void called(String script, long nanos, boolean answered) {
    }

    @Override
    public void sent(SendOutcome outcome) {
        this.sent.add(outcome);
    }

    @Override
    public void sendFailed() {
        this.failed.incrementAndGet();
    }

    @Override
    public void occurrencesSkipped(SkipReason reason, long occurrences) {
        this.skipped.merge(reason, occurrences, Long::sum);
    }

}

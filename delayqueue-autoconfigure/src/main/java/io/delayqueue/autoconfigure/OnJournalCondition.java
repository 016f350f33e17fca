package io.delayqueue.autoconfigure;

import java.util.Map;
import java.util.function.Predicate;

import io.delayqueue.journal.JournalMode;

import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.type.AnnotatedTypeMetadata;

/** Matches if the journal of any queue is configured to have a mode of some kind. */
abstract class OnJournalCondition extends SpringBootCondition {

    private final Predicate<JournalMode> kind;

    OnJournalCondition(Predicate<JournalMode> kind) {
        this.kind = kind;
    }

    @Override
    public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
        Binder binder = Binder.get(context.getEnvironment());
        JournalMode all = binder.bind("delayqueue.journal.mode", JournalMode.class).orElse(JournalMode.OFF);
        boolean found = this.kind.test(all)
                || binder.bind("delayqueue.queues", Bindable.mapOf(String.class, QueueJournal.class))
                    .map(Map::values)
                    .map((queues) -> queues.stream().anyMatch((queue) -> queue.is(this.kind)))
                    .orElse(false);
        ConditionMessage.Builder message = ConditionMessage.forCondition("Journal of a queue");
        return found ? ConditionOutcome.match(message.foundExactly("mode"))
                : ConditionOutcome.noMatch(message.because("no queue has such a mode"));
    }

    /**
     * Holds the setting of a queue.
     *
     * @param journalMode its mode
     */
    record QueueJournal(JournalMode journalMode) {

        boolean is(Predicate<JournalMode> kind) {
            return this.journalMode != null && kind.test(this.journalMode);
        }

    }

    /** Matches if any queue has a journal. */
    static final class OfAnyMode extends OnJournalCondition {

        OfAnyMode() {
            super((mode) -> mode != JournalMode.OFF);
        }

    }

    /** Matches if a journal records requests. */
    static final class OfRequests extends OnJournalCondition {

        OfRequests() {
            super(JournalMode::recordsRequests);
        }

    }

    /** Matches if a journal records the history of messages. */
    static final class OfHistory extends OnJournalCondition {

        OfHistory() {
            super(JournalMode::recordsHistory);
        }

        @Override
        public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
            if (!context.getEnvironment().getProperty("delayqueue.journal.history.enabled", Boolean.class, true)) {
                return ConditionOutcome.noMatch(ConditionMessage.forCondition("History of messages")
                    .because("delayqueue.journal.history.enabled is false"));
            }
            return super.getMatchOutcome(context, metadata);
        }

    }

}

package io.delayqueue.autoconfigure;

import java.util.Map;

import io.delayqueue.journal.JournalMode;

import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.type.AnnotatedTypeMetadata;

/** Matches if any queue is configured to have a journal. */
final class OnJournalCondition extends SpringBootCondition {

    @Override
    public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
        Binder binder = Binder.get(context.getEnvironment());
        JournalMode all = binder.bind("delayqueue.journal.mode", JournalMode.class).orElse(JournalMode.OFF);
        boolean found = all != JournalMode.OFF
                || binder.bind("delayqueue.queues", Bindable.mapOf(String.class, QueueJournal.class))
                    .map(Map::values)
                    .map((queues) -> queues.stream().anyMatch(QueueJournal::isOn))
                    .orElse(false);
        ConditionMessage.Builder message = ConditionMessage.forCondition("Journal of a queue");
        return found ? ConditionOutcome.match(message.foundExactly("mode"))
                : ConditionOutcome.noMatch(message.because("all are off"));
    }

    /**
     * Holds the setting of a queue.
     *
     * @param journalMode its mode
     */
    record QueueJournal(JournalMode journalMode) {

        boolean isOn() {
            return this.journalMode != null && this.journalMode != JournalMode.OFF;
        }

    }

}

package io.delayqueue.template;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

import io.delayqueue.DelayedMessage;
import io.delayqueue.QueueName;
import io.delayqueue.ScheduleDefinition;
import io.delayqueue.ScheduleOperations;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.journal.Journal;
import io.delayqueue.memory.InMemoryMessageStore;
import io.delayqueue.store.routing.QueueRegistrar;
import io.delayqueue.store.routing.StoreComponents;
import io.delayqueue.store.schedule.LocalSchedules;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

/** Verifies the counts and the futures of sends to a queue that has a journal. */
class JournaledSendTests {

    private final InMemoryMessageStore store = new InMemoryMessageStore(TemplateFixture.CODEC,
            () -> 3_600_000_000_000L);

    private final OccurrenceCounts counts = new OccurrenceCounts();

    private final Journal journal = mock(Journal.class);

    private final DelayQueueTemplate template = new DelayQueueTemplate(
            new StoreComponents(this.store, this.store, this.store, TemplateFixture.PARTITIONS, this.counts,
                    QueueRegistrar.NONE,
                    new LocalSchedules(this.store.schedules(), TemplateFixture.CODEC, LocalSchedules.MISFIRE_THRESHOLD,
                            "")),
            TemplateFixture.CODEC, new TemplateSettings(1000, false, TemplateFixture.AGES, (queue) -> null),
            (event) -> {
            }, System::nanoTime, this.journal);

    @BeforeEach
    void theQueueHasAJournal() {
        when(this.journal.covers(new QueueName("q"))).thenReturn(true);
    }

    @Test
    void aMessageThatIsNotRecordedFailsItsFuture() {
        when(this.journal.send(any(), any())).thenThrow(new DataAccessResourceFailureException("database"));

        assertThat(this.template.sendAsync(message("a"))).failsWithin(TemplateFixture.AGES)
            .withThrowableOfType(ExecutionException.class)
            .withCauseInstanceOf(DataAccessResourceFailureException.class);
        assertThat(this.counts.failed).hasValue(1);
    }

    /** The caller may ignore the future, and the transaction must not commit then. */
    @Test
    void aMessageThatIsNotRecordedEndsItsTransaction() {
        when(this.journal.send(any(), any())).thenThrow(new DataAccessResourceFailureException("database"));
        TransactionTemplate transaction = new TransactionTemplate(new ResourcelessTransactionManager());

        assertThatExceptionOfType(DataAccessException.class)
            .isThrownBy(() -> transaction.execute((status) -> this.template.sendAsync(message("a"))));
        assertThat(this.counts.failed).hasValue(1);
    }

    @Test
    void eachMessageThatIsNotRecordedIsCounted() {
        when(this.journal.send(any(), any())).thenThrow(new DataAccessResourceFailureException("database"));

        assertThatExceptionOfType(DataAccessException.class)
            .isThrownBy(() -> this.template.sendAll(List.of(message("a"), message("b"), message("c"))));
        assertThat(this.counts.failed).hasValue(3);
    }

    @Test
    void aRecordedMessageThatTheStoreRefusesIsCounted() {
        when(this.journal.send(any(), any()))
            .thenReturn(List.of(CompletableFuture.failedFuture(new StoreRefusedException("another group", null))));

        assertThatExceptionOfType(StoreRefusedException.class).isThrownBy(() -> this.template.send(message("a")));
        assertThat(this.template.sendAsync(message("a"))).isCompletedExceptionally();
        assertThat(this.counts.failed).hasValue(2);
    }

    /** The journal counts a send when it applies the request. */
    @Test
    void aTriggeredOccurrenceIsNotCountedHere() {
        SendResult sent = new SendResult("q", "a", Instant.EPOCH, SendOutcome.SCHEDULED);
        when(this.journal.send(any(), any())).thenReturn(List.of(CompletableFuture.completedFuture(sent)));
        ScheduleOperations schedules = this.template.schedules("q");
        schedules.put(ScheduleDefinition.fixedRate("hourly", Duration.ofHours(1)).build());

        assertThat(schedules.trigger("hourly")).contains(sent);
        assertThat(this.counts.sent).isEmpty();
    }

    @Test
    void aTriggeredOccurrenceThatIsNotRecordedIsCounted() {
        when(this.journal.send(any(), any())).thenThrow(new DataAccessResourceFailureException("database"));
        ScheduleOperations schedules = this.template.schedules("q");
        schedules.put(ScheduleDefinition.fixedRate("hourly", Duration.ofHours(1)).build());

        assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> schedules.trigger("hourly"));
        assertThat(this.counts.failed).hasValue(1);
    }

    private static DelayedMessage message(String id) {
        return DelayedMessage.builder("q", "x").id(id).build();
    }

}

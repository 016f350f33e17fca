package io.delayqueue.template;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import io.delayqueue.CancelResult;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedMessage;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.consume.ConsumeSettings;
import io.delayqueue.fixtures.store.TemplateFakeStore;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.MessageEventRecorder;
import io.delayqueue.store.MessageEventRecorderFactory;
import io.delayqueue.store.routing.QueueRegistrar;
import io.delayqueue.store.routing.StoreComponents;
import io.delayqueue.store.schedule.LocalSchedules;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

/** Steering many messages by one call, also by a client that blocks. */
class ManyCallsTests {

    private static final List<String> IDS = List.of("a", "b", "c");

    private static final StoreUnavailableException AWAY = new StoreUnavailableException("away", Effect.UNKNOWN, null);

    private final TemplateFixture templates = new TemplateFixture(() -> 1_000_000);

    private final TemplateFakeStore store = this.templates.store;

    private final AtomicInteger cancelled = new AtomicInteger();

    private DelayQueueTemplate template(Duration waitLimit) {
        MessageEventRecorderFactory events = mock(MessageEventRecorderFactory.class);
        when(events.of(any())).thenReturn(new MessageEventRecorder() {
            @Override
            public void cancelled() {
                ManyCallsTests.this.cancelled.incrementAndGet();
            }
        });
        ConsumeSettings receive = new ConsumeSettings(TemplateFixture.LEASE, 3, 2, ExpiryPolicy.DROP,
                TemplateFixture.AGES, (failures) -> Duration.ZERO);
        return new DelayQueueTemplate(
                new StoreComponents(this.store, this.store, this.store, TemplateFixture.PARTITIONS, events,
                        QueueRegistrar.NONE, LocalSchedules.none()),
                TemplateFixture.CODEC,
                new TemplateSettings(TemplateFixture.MAX_PAYLOAD_SIZE, false, waitLimit, (queue) -> receive),
                this.templates.events::add, System::nanoTime);
    }

    private long calls(String prefix) {
        return this.store.calls.stream().filter((call) -> call.startsWith(prefix)).count();
    }

    @Test
    void noFurtherCallIsMadeOnceOneHasFailed() {
        DelayQueueOperations template = template(TemplateFixture.AGES);
        this.store.failOn("cancel", AWAY);
        assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> template.cancelAll("q", IDS));
        assertThat(calls("cancel")).isOne();

        this.store.failOn("reschedule", AWAY);
        assertThatExceptionOfType(StoreUnavailableException.class)
            .isThrownBy(() -> template.rescheduleAll("q", IDS, Duration.ZERO));
        assertThat(calls("reschedule")).isOne();

        IDS.forEach((id) -> this.store.addDeadLetter("q", id));
        this.store.failOn("redrive", AWAY);
        assertThatExceptionOfType(StoreUnavailableException.class)
            .isThrownBy(() -> template.deadLetters("q").redriveAll());
        assertThat(calls("redrive")).isOne();
    }

    @Test
    void noFurtherCallIsMadeOnceAllTogetherLastAsLongAsOneMay() {
        this.store.answers = (call, effect) -> {
            long begin = System.nanoTime();
            while (System.nanoTime() - begin <= 2_000_000) {
                // Real time: the template measures its time-out by the clock of the JVM.
                Thread.onSpinWait();
            }
            return CompletableFuture.completedFuture(effect.get());
        };

        assertThatExceptionOfType(StoreUnavailableException.class)
            .isThrownBy(() -> template(Duration.ofMillis(1)).cancelAll("q", IDS))
            .withMessageContaining("1 of 3")
            .satisfies((ex) -> assertThat(ex.effect()).isEqualTo(Effect.UNKNOWN));
        assertThat(calls("cancel")).isOne();
    }

    @Test
    void cancelledIdsAreReportedThoughAnotherReplyIsMissing() {
        DelayQueueOperations template = template(TemplateFixture.AGES);
        IDS.forEach((id) -> template.send(DelayedMessage.builder("q", "x").id(id).build()));

        assertThat(template.cancelAll("q", List.of("a", "none"))).containsEntry("a", CancelResult.CANCELLED);
        assertThat(this.cancelled).hasValue(1);

        this.store.failOn("cancel q c", AWAY);
        assertThatExceptionOfType(StoreUnavailableException.class)
            .isThrownBy(() -> template.cancelAll("q", List.of("b", "c")));
        assertThat(this.cancelled).hasValue(2);
    }

    /**
     * P1: an exception that states that nothing was changed must be true, as its caller
     * does not check.
     */
    @Test
    void aCallThatTookEffectInPartIsNotReportedAsWithoutEffect() {
        DelayQueueOperations template = template(TemplateFixture.AGES);
        IDS.forEach((id) -> template.send(DelayedMessage.builder("q", "x").id(id).build()));
        StoreRefusedException refused = new StoreRefusedException("no right", null);
        this.store.failOn("cancel q b", refused);

        assertThatExceptionOfType(StoreRefusedException.class)
            .isThrownBy(() -> template.cancelAll("q", List.of("a", "b")))
            .satisfies((ex) -> assertThat(ex.effect()).isEqualTo(Effect.UNKNOWN));
        assertThatExceptionOfType(StoreRefusedException.class)
            .isThrownBy(() -> template.cancelAll("q", List.of("b", "c")))
            .satisfies((ex) -> assertThat(ex.effect()).isEqualTo(Effect.NONE));
    }

}

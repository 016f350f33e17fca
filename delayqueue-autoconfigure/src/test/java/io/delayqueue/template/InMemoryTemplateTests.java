package io.delayqueue.template;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import io.delayqueue.CancelResult;
import io.delayqueue.DeadLetterOperations;
import io.delayqueue.DelayedMessage;
import io.delayqueue.OnDuplicate;
import io.delayqueue.ReceivedMessage;
import io.delayqueue.RedriveResult;
import io.delayqueue.RescheduleResult;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.consume.ConsumeSettings;
import io.delayqueue.memory.InMemoryMessageStore;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.routing.StoreComponents;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests the template on the in-memory store, with a clock that the test moves: P2 (never
 * early), P4 and P5 (one lease, fenced), P8 (an id is admitted once), P9 (dead after the
 * last attempt, then redriven).
 */
class InMemoryTemplateTests {

    private static final Duration MINUTE = Duration.ofMinutes(1);

    private final AtomicLong micros = new AtomicLong(1_000_000_000);

    private final InMemoryMessageStore store = new InMemoryMessageStore(TemplateFixture.CODEC, this.micros::get);

    private final DelayQueueTemplate template = new DelayQueueTemplate(
            new StoreComponents(this.store, this.store, this.store, TemplateFixture.PARTITIONS), TemplateFixture.CODEC,
            new TemplateSettings(1000, false, TemplateFixture.AGES,
                    (queue) -> new ConsumeSettings(TemplateFixture.LEASE, 2, 2, ExpiryPolicy.DROP, TemplateFixture.AGES,
                            (failures) -> Duration.ZERO)),
            (event) -> {
            }, System::nanoTime);

    @Test
    void aMessageIsReceivedWhenItIsDueAndNotBefore() {
        SendResult sent = this.template.send("q", "x", MINUTE);
        advance(MINUTE.minusMillis(1));
        assertThat(receive()).isNull();

        advance(Duration.ofMillis(1));

        ReceivedMessage message = receive();
        assertThat(message.id()).isEqualTo(sent.id());
        assertThat(message.dueAt()).isEqualTo(sent.dueAt());
        assertThat(message.payload(String.class)).isEqualTo("x");
        assertThat(receive()).isNull();
        assertThat(message.acknowledge()).isTrue();
        assertThat(this.template.find("q", sent.id())).isEmpty();
    }

    @Test
    void aMessageWithoutATimeIsDueNow() {
        SendResult sent = this.template.send("q", "x");

        assertThat(receive().id()).isEqualTo(sent.id());
    }

    @Test
    void aMessageIsCancelledByTheIdThatItWasSentWith() {
        SendResult delayed = this.template.send("q", "order-1", "x", MINUTE);
        SendResult dated = this.template.send("q", "order-2", "y", delayed.dueAt().plusMillis(1));

        assertThat(delayed).isEqualTo(new SendResult("q", "order-1", delayed.dueAt(), SendOutcome.SCHEDULED));
        assertThat(dated)
            .isEqualTo(new SendResult("q", "order-2", delayed.dueAt().plusMillis(1), SendOutcome.SCHEDULED));
        assertThat(this.template.send("q", "order-1", "z", MINUTE.multipliedBy(2)))
            .isEqualTo(new SendResult("q", "order-1", delayed.dueAt(), SendOutcome.KEPT));
        assertThat(this.template.cancel("q", "order-1")).isEqualTo(CancelResult.CANCELLED);
        advance(MINUTE.multipliedBy(2));
        assertThat(receive().id()).isEqualTo("order-2");
        assertThat(receive()).isNull();
    }

    @Test
    void messagesOfAGroupAreReceivedOneAtATime() {
        this.template.send(DelayedMessage.builder("q", "x").id("a").group("g").build());
        this.template.send(DelayedMessage.builder("q", "y").id("b").group("g").build());

        ReceivedMessage first = receive();

        assertThat(first.group()).contains("g");
        assertThat(receive()).isNull();
        assertThat(first.acknowledge()).isTrue();
        assertThat(receive().id()).isEqualTo("b");
    }

    @Test
    void aLeaseThatRanOutIsFenced() {
        this.template.send("q", "x", Duration.ZERO);
        ReceivedMessage first = receive();
        advance(TemplateFixture.LEASE.plusSeconds(1));

        ReceivedMessage second = receive();

        assertThat(second.id()).isEqualTo(first.id());
        assertThat(first.acknowledge()).isFalse();
        assertThat(first.retry(Duration.ZERO, "late")).isFalse();
        assertThat(first.extend(MINUTE)).isFalse();
        assertThat(second.acknowledge()).isTrue();
    }

    @Test
    void aMessageThatLapsesTooOftenIsDeadLettered() {
        this.template.send("q", "x", Duration.ZERO);
        int received = 0;
        while (received < 10 && receive() != null) {
            received++;
            advance(TemplateFixture.LEASE.plusSeconds(1));
        }

        // The first start is not recorded; two that are may lapse.
        assertThat(received).isEqualTo(3);
        assertThat(this.template.deadLetters("q").list(null, 10).deadLetters()).hasSize(1);
    }

    @Test
    void theLastFailureMakesADeadLetterThatCanBeRedriven() {
        this.template.send(message("a"));
        assertThat(receive().retry(MINUTE, "boom")).isTrue();
        assertThat(receive()).isNull();
        advance(MINUTE);
        ReceivedMessage last = receive();
        assertThat(last.attempt()).isEqualTo(2);
        assertThat(last.retry(MINUTE, "boom again")).isTrue();

        DeadLetterOperations deadLetters = this.template.deadLetters("q");
        String deadLetterId = deadLetters.list(null, 1).deadLetters().get(0).id();
        assertThat(deadLetters.redrive(deadLetterId)).isEqualTo(RedriveResult.REDRIVEN);
        assertThat(receive().attempt()).isEqualTo(1);
    }

    @Test
    void anIdIsAdmittedOnce() {
        DelayedMessage later = message("a").toBuilder().delay(MINUTE).build();
        DelayedMessage replacement = later.toBuilder().onDuplicate(OnDuplicate.REPLACE).build();

        List<SendResult> results = this.template.sendAll(List.of(message("a"), later, replacement));

        assertThat(results).extracting(SendResult::outcome)
            .containsExactly(SendOutcome.SCHEDULED, SendOutcome.KEPT, SendOutcome.REPLACED);
        assertThat(results.get(1).dueAt()).isEqualTo(results.get(0).dueAt());
        assertThat(results.get(2).dueAt()).isEqualTo(Instant.ofEpochSecond(1060));
    }

    @Test
    void cancelAndRescheduleReturnTheirOutcome() {
        this.template.send(message("a").toBuilder().delay(MINUTE).build());
        assertThat(this.template.reschedule("q", "a", Instant.MIN)).isEqualTo(RescheduleResult.RESCHEDULED);
        ReceivedMessage message = receive();
        assertThat(this.template.reschedule("q", "a", MINUTE)).isEqualTo(RescheduleResult.LEASED);
        assertThat(this.template.cancel("q", "a")).isEqualTo(CancelResult.LEASED);
        assertThat(message.retry(Duration.ZERO, "boom")).isTrue();

        assertThat(this.template.find("q", "a")).isEmpty();
        assertThat(this.template.statistics("q").scheduled()).isZero();
    }

    @Test
    void redriveAllAndPurgeAllReachEveryDeadLetter() {
        for (int i = 0; i < 250; i++) {
            this.template.send(message("m" + i));
            receive().deadLetter("why not");
        }
        this.template.send(message("m7").toBuilder().delay(MINUTE).build());

        assertThat(this.template.deadLetters("q").redriveAll()).isEqualTo(249);
        assertThat(this.template.deadLetters("q").list(null, 100).deadLetters()).hasSize(1);
        assertThat(this.template.deadLetters("q").purgeAll()).isEqualTo(1);
        assertThat(this.template.statistics("q").scheduled()).isEqualTo(250);
    }

    @Test
    void aSendWakesAReceiveCall() throws Exception {
        CompletableFuture<Optional<ReceivedMessage>> received = new CompletableFuture<>();
        Thread thread = new Thread(() -> received.complete(this.template.receive("q", TemplateFixture.AGES)));
        thread.start();
        await().until(() -> thread.getState() == Thread.State.TIMED_WAITING);

        this.template.send(message("a"));

        assertThat(received.get(60, TimeUnit.SECONDS)).map(ReceivedMessage::id).hasValue("a");
    }

    private ReceivedMessage receive() {
        return this.template.receive("q", Duration.ZERO).orElse(null);
    }

    private void advance(Duration time) {
        this.micros.addAndGet(time.toNanos() / 1000);
    }

    private static DelayedMessage message(String id) {
        return DelayedMessage.builder("q", "x").id(id).build();
    }

}

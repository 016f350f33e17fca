package io.delayqueue.template;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import io.delayqueue.BatchSendException;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.DelayedMessage;
import io.delayqueue.NotReplicatedException;
import io.delayqueue.OnDuplicate;
import io.delayqueue.PayloadConversionException;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.fixtures.store.TemplateFakeStore;
import io.delayqueue.store.NewMessage;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * Sending many: P1 for each message of a batch that fails part of the way, and the order
 * that P8 needs for messages of one id.
 */
class BatchSenderTests {

    private final TemplateFixture templates = new TemplateFixture(() -> 1_000_000);

    private final TemplateFakeStore store = this.templates.store;

    private final DelayQueueTemplate template = this.templates.template();

    @Test
    void nothingToSendMakesNoCall() {
        assertThat(this.template.sendAll(List.of())).isEmpty();
        assertThat(this.store.calls).isEmpty();
    }

    @Test
    void resultsComeInTheOrderOfTheMessagesAcrossQueues() {
        List<DelayedMessage> messages = IntStream.range(0, 250)
            .mapToObj((i) -> message((i % 2 == 0) ? "even" : "odd", "m" + i))
            .toList();

        List<SendResult> results = this.template.sendAll(messages);

        assertThat(results).extracting(SendResult::id)
            .containsExactlyElementsOf(messages.stream().map((message) -> message.id().orElseThrow()).toList());
        assertThat(this.store.calls).hasSize(4);
    }

    @Test
    void aCallHoldsAtMostAMebibyte() {
        String payload = "4".repeat(400_000);

        this.template.sendAll(IntStream.range(0, 5)
            .mapToObj((i) -> DelayedMessage.builder("q", payload).id("m" + i).build())
            .toList());

        assertThat(this.store.calls).containsExactly("schedule q [m0, m1]", "schedule q [m2, m3]", "schedule q [m4]");
    }

    @Test
    void messagesOfOneIdAreSentOneAfterTheOther() {
        AtomicInteger underWay = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        answerLater(underWay, most);

        List<SendResult> results = this.template
            .sendAll(List.of(replacing("a"), message("q", "b"), replacing("a"), replacing("a")));

        assertThat(results).extracting(SendResult::outcome)
            .containsExactly(SendOutcome.SCHEDULED, SendOutcome.SCHEDULED, SendOutcome.REPLACED, SendOutcome.REPLACED);
        assertThat(this.store.calls).containsExactly("schedule q [a, b]", "schedule q [a]", "schedule q [a]");
        assertThat(most).hasValue(1);
    }

    @Test
    void atMostFourCallsAreUnderWayAtATime() {
        AtomicInteger underWay = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        answerLater(underWay, most);

        assertThat(this.template.sendAll(messages(1000))).hasSize(1000);

        assertThat(this.store.calls).hasSize(10);
        assertThat(most).hasValue(4);
    }

    private void answerLater(AtomicInteger underWay, AtomicInteger most) {
        Executor later = CompletableFuture.delayedExecutor(50, TimeUnit.MILLISECONDS);
        this.store.answers = (call, effect) -> {
            most.accumulateAndGet(underWay.incrementAndGet(), Math::max);
            return CompletableFuture.supplyAsync(() -> {
                underWay.decrementAndGet();
                return effect.get();
            }, later);
        };
    }

    @Test
    void oneBadMessageStoresNone() {
        DelayedMessage broken = DelayedMessage.builder("q", new DelayQueueTemplateTests.Broken()).build();
        DelayedMessage large = DelayedMessage.builder("q", "4".repeat(TemplateFixture.MAX_PAYLOAD_SIZE)).build();

        assertThatExceptionOfType(PayloadConversionException.class)
            .isThrownBy(() -> this.template.sendAll(List.of(message("q", "a"), broken)));
        assertThatIllegalArgumentException().isThrownBy(() -> this.template.sendAll(List.of(message("q", "a"), large)));
        assertThat(this.store.calls).isEmpty();
    }

    @Test
    void aPartialFailureNamesWhatIsStoredWhatIsNotAndWhatIsUnknown() {
        Exception cause = new IllegalStateException("of the client");
        this.store.failOn("schedule q2", new StoreUnavailableException("away", Effect.UNKNOWN, cause));

        BatchSendException ex = catchThrowableOfType(BatchSendException.class,
                () -> this.template.sendAll(List.of(message("q1", "a"), message("q2", "b"), message("q3", "c"),
                        message("q4", "d"), message("q5", "e"), message("q6", "f"))));

        assertThat(ex.stored()).extracting(SendResult::id).containsExactly("a", "c", "d", "e");
        assertThat(ex.unknown()).extracting((message) -> message.id().orElseThrow()).containsExactly("b");
        assertThat(ex.notStored()).extracting((message) -> message.id().orElseThrow()).containsExactly("f");
        assertThat(ex.effect()).isEqualTo(Effect.UNKNOWN);
        assertThat(ex).cause().isInstanceOf(StoreUnavailableException.class).cause().isSameAs(cause);
        assertThat(this.store.calls).doesNotContain("schedule q6 [f]");
    }

    @Test
    void aRefusalHalfOfTheWayIsUnknown() {
        this.store.failOn("schedule q2", new StoreRefusedException("a right is missing", Effect.UNKNOWN, null));

        BatchSendException ex = catchThrowableOfType(BatchSendException.class,
                () -> this.template.sendAll(List.of(message("q1", "a"), message("q2", "b"))));

        assertThat(ex.unknown()).extracting((message) -> message.id().orElseThrow()).containsExactly("b");
        assertThat(ex.notStored()).isEmpty();
        assertThat(ex.effect()).isEqualTo(Effect.UNKNOWN);
    }

    @Test
    void aFailureWithoutEffectLeavesNothingUnknown() {
        this.store.failOn("schedule", new StoreRefusedException("full", null));

        BatchSendException ex = catchThrowableOfType(BatchSendException.class,
                () -> this.template.sendAll(List.of(message("q", "a"), message("q", "b"))));

        assertThat(ex.unknown()).isEmpty();
        assertThat(ex.notStored()).hasSize(2);
        assertThat(ex.effect()).isEqualTo(Effect.NONE);
    }

    /**
     * P1: a caller may repeat all of a send whose exception states that nothing was
     * changed.
     */
    @Test
    void aBatchThatIsStoredInPartIsNotReportedAsWithoutEffect() {
        this.store.failOn("schedule q2", new StoreRefusedException("full", null));

        BatchSendException ex = catchThrowableOfType(BatchSendException.class,
                () -> this.template.sendAll(List.of(message("q1", "a"), message("q2", "b"))));

        assertThat(ex.stored()).hasSize(1);
        assertThat(ex.notStored()).hasSize(1);
        assertThat(ex.effect()).isEqualTo(Effect.UNKNOWN);
    }

    @Test
    void messagesWithoutTheirReplicasAreNotReportedAsStored() {
        this.store.failOn("schedule", new NotReplicatedException("0 of 1 replicas", null));

        BatchSendException ex = catchThrowableOfType(BatchSendException.class,
                () -> this.template.sendAll(List.of(message("q", "a"))));

        assertThat(ex.stored()).isEmpty();
        assertThat(ex.unknown()).extracting((message) -> message.id().orElseThrow()).containsExactly("a");
        assertThat(ex).hasCauseInstanceOf(NotReplicatedException.class);
    }

    @Test
    void messagesWithGeneratedIdsAreReturnedWithTheirIds() {
        List<String> sent = new ArrayList<>();
        this.store.answers = (call, effect) -> {
            sent.add(call.substring(call.indexOf('[') + 1, call.indexOf(']')));
            return CompletableFuture.failedFuture(new StoreUnavailableException("away", Effect.UNKNOWN, null));
        };

        BatchSendException ex = catchThrowableOfType(BatchSendException.class,
                () -> this.template.sendAll(List.of(DelayedMessage.builder("q", "x").header("a", "b").build())));

        assertThat(ex.unknown()).singleElement().satisfies((message) -> {
            assertThat(message.id()).hasValue(sent.get(0));
            assertThat(message.headers()).containsEntry("a", "b");
        });
    }

    @Test
    void aStoreThatThrowsInsteadOfAnsweringLosesTrackOfNothing() {
        this.store.answers = (call, effect) -> {
            if (call.startsWith("schedule q2")) {
                throw new IllegalStateException("boom");
            }
            return CompletableFuture.completedFuture(effect.get());
        };

        BatchSendException ex = catchThrowableOfType(BatchSendException.class,
                () -> this.template.sendAll(List.of(message("q1", "a"), message("q2", "b"))));

        assertThat(ex.stored()).extracting(SendResult::id).containsExactly("a");
        assertThat(ex.unknown()).hasSize(1);
    }

    @Test
    void callsUnderWayAreAwaitedAfterAFailure() {
        CompletableFuture<Void> gate = new CompletableFuture<>();
        this.store.answers = (call, effect) -> {
            if (call.startsWith("schedule q1")) {
                return CompletableFuture.failedFuture(new StoreRefusedException("full", null));
            }
            gate.completeAsync(() -> null);
            return gate.thenApply((nothing) -> effect.get());
        };

        BatchSendException ex = catchThrowableOfType(BatchSendException.class,
                () -> this.template.sendAll(List.of(message("q1", "a"), message("q2", "b"))));

        assertThat(ex.stored()).extracting(SendResult::id).containsExactly("b");
        assertThat(this.store.scheduled).extracting(NewMessage::id).containsExactly("b");
    }

    @Test
    void theFirstOfSeveralFailuresIsTheCause() {
        this.store.answers = (call, effect) -> CompletableFuture.failedFuture(new StoreRefusedException(call, null));

        assertThatExceptionOfType(BatchSendException.class)
            .isThrownBy(() -> this.template.sendAll(List.of(message("q1", "a"), message("q2", "b"))))
            .withMessageEndingWith("schedule q1 [a]");
    }

    private static List<DelayedMessage> messages(int count) {
        return IntStream.range(0, count).mapToObj((i) -> message("q", "m" + i)).toList();
    }

    private static DelayedMessage message(String queue, String id) {
        return DelayedMessage.builder(queue, "x").id(id).build();
    }

    private static DelayedMessage replacing(String id) {
        return DelayedMessage.builder("q", "x").id(id).onDuplicate(OnDuplicate.REPLACE).build();
    }

}

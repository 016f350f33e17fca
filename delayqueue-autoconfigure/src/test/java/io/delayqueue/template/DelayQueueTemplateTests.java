package io.delayqueue.template;

import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

import io.delayqueue.CancelResult;
import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.DelayedMessage;
import io.delayqueue.MessageLimits;
import io.delayqueue.NotReplicatedException;
import io.delayqueue.OnDuplicate;
import io.delayqueue.PayloadConversionException;
import io.delayqueue.QueueStatistics;
import io.delayqueue.RescheduleResult;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.StoredMessage;
import io.delayqueue.fixtures.store.TemplateFakeStore;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.NewMessage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Sends, cancels and reschedules one message: P1 (a send returns only once the store has
 * it, and a failure says whether its effect is known), the rounding of P2, and the
 * arguments of the store for P8.
 */
class DelayQueueTemplateTests {

    private static final Duration SECOND = Duration.ofSeconds(1);

    private final TemplateFixture templates = new TemplateFixture(() -> 1_000_000);

    private final TemplateFakeStore store = this.templates.store;

    private final DelayQueueTemplate template = this.templates.template();

    @Test
    void sendAnswersIdAndDueTimeOnceTheStoreHasTheMessage() {
        SendResult result = this.template.send("orders", "x", SECOND);

        assertThat(result)
            .isEqualTo(new SendResult("orders", result.id(), Instant.ofEpochMilli(1_001_000), SendOutcome.SCHEDULED));
        assertThat(this.store.ids("orders")).containsExactly(result.id());
    }

    @Test
    void aSendWithoutItsReplicasNamesItsMessageAndThatItIsStored() {
        this.store.failOn("schedule", new NotReplicatedException("0 of 1 replicas", null));
        DelayedMessage message = DelayedMessage.builder("orders", "x").id("a").build();

        assertThatExceptionOfType(NotReplicatedException.class).isThrownBy(() -> this.template.send(message))
            .withMessage("0 of 1 replicas. The message is 'a' of queue 'orders'")
            .satisfies((ex) -> assertThat(ex.effect()).isEqualTo(Effect.STORED));
        assertThat(this.template.sendAsync(message)).failsWithin(SECOND)
            .withThrowableOfType(ExecutionException.class)
            .withCauseInstanceOf(NotReplicatedException.class)
            .withMessageContaining("The message is 'a' of queue 'orders'");
    }

    /** P1: the caller of a send with a generated id could not check otherwise. */
    @Test
    void sendRoundsADelayAndADueTimeUpToTheMillisecond() {
        this.template.send("orders", "x", Duration.ofNanos(1));
        this.template.send("orders", "x", Instant.ofEpochMilli(7).plusNanos(1));

        assertThat(this.store.scheduled).extracting(NewMessage::due)
            .containsExactly(new DueTime(1, true), new DueTime(8, false));
    }

    @Test
    void sendTakesAPastDueTimeForNowHoweverLongAgo() {
        this.template.send("orders", "x", Instant.MIN);

        assertThat(this.store.scheduled).extracting(NewMessage::due).containsExactly(new DueTime(0, false));
    }

    @Test
    void sendPassesAllValuesOfAMessage() {
        SendResult result = this.template.send(DelayedMessage.builder("orders", Map.of("n", 1))
            .id("order:7")
            .onDuplicate(OnDuplicate.REPLACE)
            .priority(9)
            .timeToLive(Duration.ofNanos(1_500_000))
            .group("g")
            .header("a", "b")
            .build());

        NewMessage stored = this.store.scheduled.get(0);
        assertThat(result.id()).isEqualTo("order:7");
        assertThat(stored).usingRecursiveComparison()
            .ignoringFields("stamp")
            .isEqualTo(new NewMessage("order:7", false, DueTime.NOW, OnDuplicate.REPLACE, 9, Duration.ofMillis(2), "g",
                    "{\"headers\":{\"a\":\"b\"},\"payload\":{\"n\":1}}".getBytes()));
    }

    @Test
    void generatedIdsAreShortValidAndAllDifferent() {
        Set<String> ids = new HashSet<>();
        MessageIdGenerator source = new MessageIdGenerator();
        for (int i = 0; i < 10_000; i++) {
            String id = source.next();
            assertThat(MessageLimits.requireId(id)).hasSize(16);
            ids.add(id);
        }

        assertThat(ids).hasSize(10_000);
        this.template.send("orders", "x", SECOND);
        assertThat(this.store.scheduled.get(0).generated()).isTrue();
    }

    @Test
    void badArgumentsNameValueAndRuleAndStoreNothing() {
        assertThatIllegalArgumentException().isThrownBy(() -> this.template.send("no spaces", "x", SECOND))
            .withMessageContaining("'no spaces'")
            .withMessageContaining("1 to 64 characters");
        assertThatIllegalArgumentException().isThrownBy(() -> this.template.send("orders", "x", SECOND.negated()))
            .withMessageContaining("-1 s")
            .withMessageContaining("zero to 36500 days");
        assertThatIllegalArgumentException()
            .isThrownBy(() -> this.template.send("orders", "x", MessageLimits.MAX_DUE_AT))
            .withMessageContaining("3000-01-01T00:00:00Z");
        assertThatIllegalArgumentException().isThrownBy(() -> this.template.cancel("orders", "a b"))
            .withMessageContaining("'a b'");
        assertThatIllegalArgumentException().isThrownBy(() -> this.template.find("orders", ""))
            .withMessageContaining("''");
        assertThatIllegalArgumentException().isThrownBy(() -> this.template.reschedule("orders", "a", SECOND.negated()))
            .withMessageContaining("-1 s");
        assertThatIllegalArgumentException()
            .isThrownBy(() -> this.template.reschedule("orders", "a", MessageLimits.MAX_DUE_AT));
        assertThatIllegalArgumentException().isThrownBy(() -> this.template.statistics("-a"));
        assertThatIllegalArgumentException().isThrownBy(() -> this.template.deadLetters(""));
        assertThatIllegalArgumentException().isThrownBy(() -> this.template.receive("orders", SECOND.negated()))
            .withMessage("Timeout -1 s is not valid: use zero to 36500 days");
        assertThat(this.store.calls).isEmpty();
    }

    @Test
    void aPayloadThatIsTooLargeIsRefusedWithSizeLimitAndPropertyName() {
        String large = "4".repeat(TemplateFixture.MAX_PAYLOAD_SIZE);

        assertThatIllegalArgumentException().isThrownBy(() -> this.template.send("orders", large, SECOND))
            .withMessage("Payload of java.lang.String for queue 'orders' is too large: written with its headers it has "
                    + "500014 bytes, and delayqueue.max-payload-size is 500000");
        assertThatIllegalArgumentException().isThrownBy(
                () -> this.template.sendAsync(DelayedMessage.builder("orders", "x").header("a", large).build()));
        assertThat(this.store.calls).isEmpty();
    }

    @Test
    void aPayloadAtTheLimitIsStored() {
        String fits = "4".repeat(TemplateFixture.MAX_PAYLOAD_SIZE - 14);

        this.template.send("orders", fits, SECOND);

        assertThat(this.store.scheduled.get(0).envelope()).hasSize(TemplateFixture.MAX_PAYLOAD_SIZE);
    }

    @Test
    void aPayloadThatCannotBeWrittenStoresNothing() {
        assertThatExceptionOfType(PayloadConversionException.class)
            .isThrownBy(() -> this.template.send("orders", new Broken(), SECOND))
            .satisfies((ex) -> assertThat(ex.effect()).isEqualTo(Effect.NONE));
        assertThat(this.store.calls).isEmpty();
    }

    @Test
    void aFailureOfTheStoreReachesTheCallerWithItsEffectAndTheCallersStack() {
        Exception cause = new IllegalStateException("of the client");
        StoreUnavailableException failure = new StoreUnavailableException("away", Effect.NONE, cause);
        this.store.failOn("schedule", failure);

        assertThatExceptionOfType(StoreUnavailableException.class)
            .isThrownBy(() -> this.template.send("orders", "x", SECOND))
            .withMessageMatching("away. The message is '[\\w-]{16}' of queue 'orders'")
            .withCause(cause)
            .satisfies((ex) -> assertThat(ex.getStackTrace())
                .anyMatch((frame) -> frame.getClassName().startsWith(DelayQueueTemplateTests.class.getName())))
            .satisfies((ex) -> assertThat(ex.effect()).isEqualTo(Effect.NONE));
    }

    @Test
    void aRefusalOfTheStoreStaysARefusal() {
        this.store.failOn("", new StoreRefusedException("full", null));

        assertThatExceptionOfType(StoreRefusedException.class)
            .isThrownBy(() -> this.template.send("orders", "x", SECOND));
        assertThatExceptionOfType(StoreRefusedException.class).isThrownBy(() -> this.template.cancel("orders", "a"));
    }

    /** The caller has no other way to find, cancel or repeat it. */
    @ParameterizedTest
    @MethodSource("failuresThatMayHaveStored")
    void aSendThatMayHaveStoredItsMessageReturnsTheGeneratedId(DelayQueueException failure) {
        this.store.failOn("schedule", failure);
        DelayedMessage message = DelayedMessage.builder("orders", "x").build();

        assertThatExceptionOfType(DelayQueueException.class).isThrownBy(() -> this.template.send(message))
            .isInstanceOf(failure.getClass())
            .satisfies((ex) -> assertThat(ex.effect()).isEqualTo(failure.effect()))
            .satisfies((ex) -> assertThat(ex.messageId()).hasValueSatisfying(
                    (id) -> assertThat(ex).hasMessageEndingWith("The message is '%s' of queue 'orders'", id)));
        assertThat(this.template.sendAsync(message)).failsWithin(SECOND)
            .withThrowableOfType(ExecutionException.class)
            .havingCause()
            .isInstanceOfSatisfying(DelayQueueException.class, (ex) -> assertThat(ex.messageId()).isPresent());
    }

    static Stream<DelayQueueException> failuresThatMayHaveStored() {
        return Stream.of(new StoreUnavailableException("no answer", Effect.UNKNOWN, null),
                new StoreRefusedException("refused half of the way", Effect.UNKNOWN, null),
                new NotReplicatedException("0 of 1 replicas", null));
    }

    @Test
    void aSendThatStoredNothingReturnsNoId() {
        for (DelayQueueException failure : List.of(new StoreUnavailableException("away", Effect.NONE, null),
                new StoreRefusedException("full", null))) {
            this.store.failOn("schedule", failure);

            assertThatExceptionOfType(DelayQueueException.class)
                .isThrownBy(() -> this.template.send("orders", "x", SECOND))
                .satisfies((ex) -> assertThat(ex.messageId()).isEmpty());
        }
    }

    @Test
    void aDefectOfTheStoreLeavesTheEffectUnknown() {
        this.store.failOn("schedule", new IllegalStateException("boom"));

        assertThatExceptionOfType(StoreUnavailableException.class)
            .isThrownBy(() -> this.template.send("orders", "x", SECOND))
            .satisfies((ex) -> assertThat(ex.effect()).isEqualTo(Effect.UNKNOWN));
    }

    @Test
    void aStoreThatNeverAnswersIsNotWaitedForForEver() {
        this.store.answers = (call, effect) -> new CompletableFuture<>();
        DelayQueueTemplate impatient = this.templates.template(false, Duration.ofMillis(20), System::nanoTime);

        assertThatExceptionOfType(StoreUnavailableException.class)
            .isThrownBy(() -> impatient.send("orders", "x", SECOND))
            .withMessageStartingWith(
                    "No answer from the store to 'schedule' within 20 ms; it may or may not have taken effect")
            .satisfies((ex) -> assertThat(ex.effect()).isEqualTo(Effect.UNKNOWN));
    }

    @Test
    void anInterruptEndsTheWaitWithUnknownEffectAndStaysSet() {
        this.store.answers = (call, effect) -> new CompletableFuture<>();
        Thread.currentThread().interrupt();

        assertThatExceptionOfType(StoreUnavailableException.class)
            .isThrownBy(() -> this.template.send("orders", "x", SECOND))
            .satisfies((ex) -> assertThat(ex.effect()).isEqualTo(Effect.UNKNOWN));
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void sendAsyncCompletesWhenTheStoreAnswers() {
        CompletableFuture<Void> answered = new CompletableFuture<>();
        this.store.answers = (call, effect) -> answered.thenApply((nothing) -> effect.get());

        CompletableFuture<SendResult> result = this.template.sendAsync(message("a"));

        assertThat(result).isNotDone();
        answered.complete(null);
        assertThat(result).isCompletedWithValue(
                new SendResult("orders", "a", Instant.ofEpochMilli(1_000_000), SendOutcome.SCHEDULED));
    }

    @Test
    void sendAsyncFailsAsSendWouldThrow() {
        StoreRefusedException failure = new StoreRefusedException("full", null);
        this.store.answers = (call, effect) -> CompletableFuture.failedFuture(failure).thenApply((nothing) -> nothing);
        AtomicReference<Throwable> seen = new AtomicReference<>();

        CompletableFuture<SendResult> result = this.template.sendAsync(message("a"));
        result.whenComplete((nothing, ex) -> seen.set(ex));

        assertThat(seen).hasValue(failure);
        assertThatExceptionOfType(ExecutionException.class).isThrownBy(result::get).withCause(failure);
    }

    @Test
    void sendAsyncThrowsForArgumentsAndPayloadsItself() {
        assertThatExceptionOfType(PayloadConversionException.class)
            .isThrownBy(() -> this.template.sendAsync(DelayedMessage.builder("orders", new Broken()).build()));
        assertThat(this.store.calls).isEmpty();
    }

    @Test
    void cancelRescheduleFindAndStatisticsReturnTheResultOfTheStore() {
        this.template.send(message("a"));

        assertThat(this.template.reschedule("orders", "a", Duration.ofNanos(1)))
            .isEqualTo(RescheduleResult.RESCHEDULED);
        assertThat(this.template.reschedule("orders", "b", Instant.EPOCH.minusSeconds(9)))
            .isEqualTo(RescheduleResult.NOT_FOUND);
        assertThat(this.template.find("orders", "a")).map(StoredMessage::payload).hasValue("\"x\"");
        assertThat(this.template.find("orders", "b")).isEqualTo(Optional.empty());
        assertThat(this.template.statistics("orders")).isEqualTo(new QueueStatistics("orders", 1, 0, 0, 0, null));
        assertThat(this.template.cancel("orders", "a")).isEqualTo(CancelResult.CANCELLED);
        assertThat(this.template.cancel("orders", "a")).isEqualTo(CancelResult.NOT_FOUND);
        assertThat(this.store.calls).contains("reschedule orders a " + new DueTime(1, true),
                "reschedule orders b " + new DueTime(0, false));
    }

    @ParameterizedTest
    @ValueSource(ints = { 0, -1 })
    void settingsThatCannotWorkAreRefusedByName(int size) {
        assertThatIllegalArgumentException()
            .isThrownBy(() -> new TemplateSettings(size, false, SECOND, (queue) -> null))
            .withMessage("delayqueue.max-payload-size must be at least 1 byte, but was " + size);
    }

    private static DelayedMessage message(String id) {
        return DelayedMessage.builder("orders", "x").id(id).build();
    }

    static class Broken {

        public String getCard() {
            throw new IllegalStateException("no");
        }

    }

}

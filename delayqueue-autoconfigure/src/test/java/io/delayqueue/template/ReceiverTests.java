package io.delayqueue.template;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;
import java.util.function.Supplier;

import io.delayqueue.DeadLetter;
import io.delayqueue.DeadLetterEvent;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.DelayedMessage;
import io.delayqueue.ReceivedMessage;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.fixtures.store.TemplateFakeStore;
import io.delayqueue.store.PartitionLayout;
import io.delayqueue.store.PartitionLayoutStore;
import io.delayqueue.store.routing.PartitionLayouts;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

/**
 * Receiving: P3 (what becomes due is found, however the caller learns of it), P4 and P5
 * (a lease is the caller's or goes back, and is settled by its token), P9 (what has
 * failed or lapsed too often dies with its cause).
 */
class ReceiverTests {

    private static final byte[] ENVELOPE = TemplateFixture.CODEC.write(Map.of("n", 7), Map.of("a", "b"));

    private final TemplateFixture templates = new TemplateFixture(TemplateFixture::runningMillis);

    private final TemplateFakeStore store = this.templates.store;

    private final AtomicLong nanos = new AtomicLong();

    private final DelayQueueTemplate template = this.templates.template();

    /** With a clock that stands still unless moved. */
    private final DelayQueueTemplate frozen = this.templates.template(false, TemplateFixture.AGES, this.nanos::get);

    @AfterEach
    void noSubscriptionIsLeft() {
        assertThat(this.store.subscriptions).hasValue(0);
    }

    @Test
    void aDueMessageIsLeasedToTheCallerWithoutASubscription() {
        this.store.put("q", "a", 1, 0, false, ENVELOPE);

        ReceivedMessage message = this.frozen.receive("q", Duration.ofMinutes(1)).orElseThrow();

        assertThat(message.queue()).isEqualTo("q");
        assertThat(message.id()).isEqualTo("a");
        assertThat(message.attempt()).isEqualTo(2);
        assertThat(message.dueAt()).isBefore(Instant.ofEpochMilli(TemplateFixture.runningMillis() + 1));
        assertThat(message.headers()).isEqualTo(Map.of("a", "b"));
        assertThat((Object) message.payload(Map.class)).isEqualTo(Map.of("n", 7));
        assertThat(message.leasedFor()).isEqualTo(TemplateFixture.LEASE);
        assertThat(message).hasToString("ReceivedMessage[queue=q, id=a, attempt=2]");
        assertThat(this.store.calls).containsExactly("claim q 1");
    }

    @Test
    void aTimeoutOfZeroPollsOnce() {
        assertThat(this.template.receive("q", Duration.ZERO)).isEmpty();
        assertThat(this.store.calls).containsExactly("claim q 1");
    }

    @Test
    void aTimeoutIsNotSpentOnEveryPartitionThatDoesNotAnswer() {
        PartitionLayoutStore records = mock(PartitionLayoutStore.class);
        when(records.read(any()))
            .thenReturn(CompletableFuture.completedFuture(Optional.of(new PartitionLayout(1, List.of(4), true))));
        DelayQueueTemplate four = this.templates.template(new PartitionLayouts(records, (queue) -> 0, () -> 0));

        assertThat(four.receive("q", Duration.ZERO)).isEmpty();
        assertThat(this.store.calls).hasSize(4).allMatch((call) -> call.startsWith("claim"));
        this.store.calls.clear();
        this.store.failOn("claim", new StoreUnavailableException("away", Effect.UNKNOWN, null));

        assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> four.receive("q", Duration.ZERO));
        assertThat(this.store.calls).hasSize(1);
    }

    @Test
    void partitionsThatDoNotAnswerLeaveTheOthersToBePolled() {
        PartitionLayoutStore records = mock(PartitionLayoutStore.class);
        when(records.read(any()))
            .thenReturn(CompletableFuture.completedFuture(Optional.of(new PartitionLayout(1, List.of(4), true))));
        DelayQueueTemplate four = this.templates.template(new PartitionLayouts(records, (queue) -> 0, () -> 0));
        this.store.put("q", "a", 0, 0, false, ENVELOPE);
        AtomicInteger claims = new AtomicInteger();
        this.store.answers = (call, effect) -> (call.startsWith("claim") && claims.incrementAndGet() < 4)
                ? CompletableFuture.failedFuture(away()) : CompletableFuture.completedFuture(effect.get());

        four.receive("q", TemplateFixture.AGES);

        assertThat(this.store.calls.subList(0, 4)).doesNotHaveDuplicates();
    }

    @Test
    void aMessageDueLaterIsFoundThenAndNotEarlier() {
        this.template.send(DelayedMessage.builder("q", "x").id("a").delay(Duration.ofMillis(60)).build());

        ReceivedMessage message = this.template.receive("q", TemplateFixture.AGES).orElseThrow();

        assertThat(message.dueAt()).isBeforeOrEqualTo(Instant.ofEpochMilli(TemplateFixture.runningMillis()));
        assertThat(this.store.calls.stream().filter("claim q 1"::equals).count()).isLessThanOrEqualTo(5);
    }

    @Test
    void aSendByAnotherThreadWakesTheCaller() throws Exception {
        CountDownLatch waits = looksTwice();
        CompletableFuture<Optional<ReceivedMessage>> received = CompletableFuture
            .supplyAsync(() -> this.template.receive("q", TemplateFixture.AGES));
        assertThat(waits.await(60, TimeUnit.SECONDS)).isTrue();

        this.template.send(DelayedMessage.builder("q", "x").id("a").build());

        // Well before the safety poll and the end of the wait.
        assertThat(received.get(60, TimeUnit.SECONDS)).map(ReceivedMessage::id).hasValue("a");
    }

    @Test
    void aWakeUpWhileAClaimIsUnderWayIsNotLost() {
        AtomicInteger claims = new AtomicInteger();
        this.store.answers = (call, effect) -> {
            Object answer = effect.get();
            if (call.startsWith("claim") && claims.incrementAndGet() == 2) {
                // Sent after this claim has looked, before its answer is there.
                this.store.put("q", "a", 0, 0, false, ENVELOPE);
                this.store.wake();
            }
            return CompletableFuture.completedFuture(answer);
        };

        assertThat(this.template.receive("q", TemplateFixture.AGES)).isPresent();

        assertThat(claims).hasValue(3);
    }

    @Test
    void aWakeUpIsConsumedOnce() throws Exception {
        AtomicInteger claims = new AtomicInteger();
        this.store.answers = (call, effect) -> {
            if (call.startsWith("claim") && claims.incrementAndGet() == 2) {
                this.store.wake();
            }
            return CompletableFuture.completedFuture(effect.get());
        };

        Thread thread = new Thread(() -> this.template.receive("q", TemplateFixture.AGES));
        thread.start();
        await().until(() -> claims.get() > 2 && thread.getState() == Thread.State.TIMED_WAITING);

        // Without listening, with it, and after the wake-up.
        assertThat(claims).hasValue(3);
        thread.interrupt();
        thread.join(60_000);
    }

    @Test
    void everyCallerThatWaitsOnAQueueIsWoken() throws Exception {
        CountDownLatch waits = new CountDownLatch(4);
        this.store.answers = (call, effect) -> {
            Object answer = effect.get();
            waits.countDown();
            return CompletableFuture.completedFuture(answer);
        };
        List<CompletableFuture<Optional<ReceivedMessage>>> received = List.of(
                CompletableFuture.supplyAsync(() -> this.template.receive("q", TemplateFixture.AGES),
                        (task) -> new Thread(task).start()),
                CompletableFuture.supplyAsync(() -> this.template.receive("q", TemplateFixture.AGES),
                        (task) -> new Thread(task).start()));
        assertThat(waits.await(60, TimeUnit.SECONDS)).isTrue();
        this.store.put("q", "a", 0, 0, false, ENVELOPE);
        this.store.put("q", "b", 0, 0, false, ENVELOPE);
        this.store.wake();

        for (CompletableFuture<Optional<ReceivedMessage>> one : received) {
            assertThat(one.get(60, TimeUnit.SECONDS)).isPresent();
        }
    }

    @Test
    void nothingDueInTimeIsEmpty() {
        this.template.send(DelayedMessage.builder("q", "x").delay(Duration.ofHours(1)).build());

        assertThat(this.template.receive("q", Duration.ofMillis(30))).isEmpty();
    }

    @Test
    void anOutageThatEndsInTimeIsSurvived() {
        this.store.put("q", "a", 0, 0, false, ENVELOPE);
        AtomicInteger claims = new AtomicInteger();
        this.store.answers = (call, effect) -> (claims.incrementAndGet() < 4) ? CompletableFuture.failedFuture(away())
                : CompletableFuture.completedFuture(effect.get());

        assertThat(this.template.receive("q", TemplateFixture.AGES)).isPresent();
    }

    @Test
    void aStoreThatWasAwayAllTheTimeIsReportedWithItsEffect() {
        this.store.failOn("claim", away());

        assertThatExceptionOfType(StoreUnavailableException.class)
            .isThrownBy(() -> this.template.receive("q", Duration.ofMillis(500)))
            .satisfies((ex) -> assertThat(ex.effect()).isEqualTo(Effect.UNKNOWN));
        assertThat(this.store.calls.stream().filter("claim q 1"::equals).count()).isBetween(1L, 6L);
        assertThatExceptionOfType(StoreUnavailableException.class)
            .isThrownBy(() -> this.template.receive("q", Duration.ZERO));
    }

    @Test
    void aStoreThatAnsweredOnceHasBeenReached() {
        AtomicInteger claims = new AtomicInteger();
        this.store.answers = (call, effect) -> {
            if (claims.incrementAndGet() == 2) {
                return CompletableFuture.completedFuture(effect.get());
            }
            this.nanos.addAndGet((claims.get() == 3) ? TemplateFixture.AGES.toNanos() : 0);
            return CompletableFuture.failedFuture(away());
        };
        DelayQueueTemplate moved = this.templates.template(false, TemplateFixture.AGES,
                () -> System.nanoTime() + this.nanos.get());

        assertThat(moved.receive("q", TemplateFixture.AGES)).isEmpty();
        assertThat(claims).hasValue(3);
    }

    @Test
    void aStoreThatRejectsIsReportedAtOnce() {
        this.store.failOn("claim", new StoreRefusedException("no permission", null));

        assertThatExceptionOfType(StoreRefusedException.class)
            .isThrownBy(() -> this.template.receive("q", TemplateFixture.AGES));
    }

    /** An empty answer would mean that the store has done its work. */
    @Test
    void aMessageThatCannotBeDeadLetteredIsReportedToACallerThatGetsNoOther() {
        this.store.put("q", "a", 3, 0, false, ENVELOPE);
        this.store.failOn("deadLetter", new StoreRefusedException("full", Effect.NONE, null));

        assertThatExceptionOfType(StoreRefusedException.class)
            .isThrownBy(() -> this.template.receive("q", TemplateFixture.AGES))
            .withMessage("full");
        assertThat(this.store.calls).filteredOn("claim q 1"::equals).hasSize(1);

        this.store.put("q", "b", 0, 0, false, ENVELOPE);
        assertThat(this.template.receive("q", Duration.ZERO)).map(ReceivedMessage::id).hasValue("b");
    }

    /** Each claim and each dead-lettering may take a full time limit. */
    @Test
    void aPollEndsAtTheFirstMessageThatCannotBeDeadLetteredBecauseTheStoreIsAway() {
        for (String id : List.of("a", "b", "c")) {
            this.store.put("q", id, 3, 0, false, ENVELOPE);
        }
        this.store.failOn("deadLetter", away());

        assertThatExceptionOfType(StoreUnavailableException.class)
            .isThrownBy(() -> this.template.receive("q", Duration.ZERO));
        assertThat(this.store.calls).filteredOn("claim q 1"::equals).hasSize(1);
    }

    @Test
    void anInterruptedThreadTakesNothing() {
        this.store.put("q", "a", 0, 0, false, ENVELOPE);
        Thread.currentThread().interrupt();

        assertThat(this.template.receive("q", TemplateFixture.AGES)).isEmpty();

        assertThat(Thread.interrupted()).isTrue();
        assertThat(this.store.calls).isEmpty();
    }

    @Test
    void anInterruptEndsTheWait() throws Exception {
        CountDownLatch waits = looksTwice();
        AtomicBoolean flag = new AtomicBoolean();
        Thread thread = new Thread(() -> {
            this.template.receive("q", TemplateFixture.AGES);
            flag.set(Thread.currentThread().isInterrupted());
        });
        thread.start();
        assertThat(waits.await(60, TimeUnit.SECONDS)).isTrue();

        thread.interrupt();
        thread.join(10_000);

        assertThat(thread.isAlive()).isFalse();
        assertThat(flag).isTrue();
    }

    @Test
    void aMessageThatArrivesAfterTheInterruptIsReleased() {
        assertGivenBackAfterInterruptDuring("claim", false);
    }

    /** P9: the claim has removed its message, so no later one reports it. */
    @Test
    void aDeadLetterOfAClaimThatIsAnsweredAfterTheInterruptIsPublished() {
        DeadLetterEvent expired = new DeadLetterEvent("q", "b", "b~1", 0, "expired");
        this.store.deadLettered.add(expired);

        assertGivenBackAfterInterruptDuring("claim", false);

        await().untilAsserted(() -> assertThat(this.templates.events).containsExactly(expired));
    }

    @Test
    void aRedeliveredMessageIsReleasedIfTheInterruptComesWhileItsStartIsRecorded() {
        assertGivenBackAfterInterruptDuring("start", true);
    }

    private void assertGivenBackAfterInterruptDuring(String operation, boolean redelivered) {
        this.store.put("q", "a", 0, 1, redelivered, ENVELOPE);
        CompletableFuture<Object> late = new CompletableFuture<>();
        Supplier<?>[] held = new Supplier<?>[1];
        this.store.answers = (call, effect) -> {
            if (call.startsWith(operation)) {
                held[0] = effect;
                Thread.currentThread().interrupt();
                return late;
            }
            return CompletableFuture.completedFuture(effect.get());
        };

        assertThat(this.template.receive("q", TemplateFixture.AGES)).isEmpty();
        assertThat(Thread.interrupted()).isTrue();
        late.complete(held[0].get());

        assertThat(this.store.calls).last().isEqualTo("release a as before");
        assertThat(this.store.isLeased("q", "a")).isFalse();
    }

    @Test
    void aMessageThatArrivesAfterTheWaitLimitIsReleased() {
        this.store.put("q", "a", 0, 0, false, ENVELOPE);
        CompletableFuture<Object> late = new CompletableFuture<>();
        Supplier<?>[] held = new Supplier<?>[1];
        this.store.answers = (call, effect) -> {
            if (call.startsWith("claim")) {
                held[0] = effect;
                return late;
            }
            return CompletableFuture.completedFuture(effect.get());
        };
        DelayQueueTemplate impatient = this.templates.template(false, Duration.ofMillis(20), System::nanoTime);

        assertThatExceptionOfType(StoreUnavailableException.class)
            .isThrownBy(() -> impatient.receive("q", Duration.ZERO));
        late.complete(held[0].get());

        assertThat(this.store.isLeased("q", "a")).isFalse();
    }

    @Test
    void theStartOfARedeliveredMessageIsRecordedBeforeItIsReturned() {
        this.store.put("q", "a", 0, 1, true, ENVELOPE);

        assertThat(this.template.receive("q", Duration.ZERO)).isPresent();
        assertThat(this.store.calls).containsExactly("claim q 1", "start a");
    }

    @Test
    void aRedeliveredMessageThatAnotherNodeClaimedIsNotReturned() {
        this.store.put("q", "a", 0, 1, true, ENVELOPE);
        this.store.answers = (call, effect) -> CompletableFuture
            .completedFuture(call.startsWith("start") ? (Object) false : effect.get());

        assertThat(this.template.receive("q", Duration.ZERO)).isEmpty();
    }

    @Test
    void aMessageThatLapsedTooOftenIsDeadLetteredAndTheNextIsReturned() {
        this.store.put("q", "a", 0, 2, true, ENVELOPE);
        this.store.put("q", "b", 0, 1, false, ENVELOPE);

        assertThat(this.template.receive("q", Duration.ZERO)).map(ReceivedMessage::id).hasValue("b");

        assertThat(this.store.deadLetters()).extracting(DeadLetter::cause)
            .containsExactly("Its lease ran out 2 times after it had started (max-lapses is 2)");
        assertThat(this.store.calls).noneMatch((call) -> call.startsWith("start a"));
    }

    @Test
    void aMessageThatFailedTooOftenIsDeadLetteredWithoutAnotherFailure() {
        this.store.put("q", "a", 3, 0, false, ENVELOPE);

        assertThat(this.template.receive("q", Duration.ZERO)).isEmpty();

        String cause = "It has failed 3 times (max-attempts is 3)";
        DeadLetter letter = this.store.deadLetters().get(0);
        assertThat(letter.cause()).isEqualTo(cause);
        assertThat(this.templates.events).containsExactly(new DeadLetterEvent("q", "a", letter.id(), 3, cause));
    }

    @Test
    void anUnreadableMessageIsDeadLetteredWithItsCause() {
        this.store.put("q", "a", 0, 0, false, "garbage 4111".getBytes());
        this.store.put("q", "b", 0, 0, false, ENVELOPE);

        assertThat(this.template.receive("q", Duration.ZERO)).map(ReceivedMessage::id).hasValue("b");

        assertThat(this.store.deadLetters()).extracting(DeadLetter::cause)
            .singleElement()
            .asString()
            .startsWith("The stored message is not readable")
            .doesNotContain("4111");
    }

    @Test
    void aLeaseThatIsOverWhenItArrivesIsNotHandedOut() {
        this.store.put("q", "a", 0, 0, false, ENVELOPE);
        this.store.answers = (call, effect) -> {
            Object answer = effect.get();
            this.nanos.addAndGet(call.startsWith("claim") ? TemplateFixture.LEASE.toNanos() : 0);
            return CompletableFuture.completedFuture(answer);
        };

        AtomicInteger releases = new AtomicInteger();
        BiFunction<String, Supplier<Object>, CompletableFuture<Object>> slow = this.store.answers;
        this.store.answers = (call, effect) -> {
            if (call.startsWith("release")) {
                releases.incrementAndGet();
                return CompletableFuture.completedFuture(List.of(false));
            }
            return slow.apply(call, effect);
        };

        assertThat(this.frozen.receive("q", Duration.ZERO)).isEmpty();
        assertThat(releases).hasValue(1);
    }

    /** The second claim is the one after listening, so the caller waits next. */
    private CountDownLatch looksTwice() {
        CountDownLatch claims = new CountDownLatch(2);
        this.store.answers = (call, effect) -> {
            Object answer = effect.get();
            if (call.startsWith("claim")) {
                claims.countDown();
            }
            return CompletableFuture.completedFuture(answer);
        };
        return claims;
    }

    private static StoreUnavailableException away() {
        return new StoreUnavailableException("away", Effect.UNKNOWN, null);
    }

}

package io.delayqueue.template;

import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.DeadLetter;
import io.delayqueue.DeadLetterFilter;
import io.delayqueue.DeadLetterOperations;
import io.delayqueue.DeadLetterPage;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.RedriveResult;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.fixtures.store.TemplateFakeStore;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** Checks the operations on dead letters, which P9 forbids to drop silently. */
class DeadLetterTemplateTests {

    private final TemplateFixture templates = new TemplateFixture(() -> 1_000_000);

    private final TemplateFakeStore store = this.templates.store;

    private final DeadLetterOperations letters = this.templates.template().deadLetters("q");

    @Test
    void deadLettersMakesNoCallByItself() {
        assertThat(this.store.calls).isEmpty();
    }

    @Test
    void listPagesFromTheLatestDeadLetterOn() {
        addLetters(3);

        DeadLetterPage first = this.letters.list(null, 2);
        DeadLetterPage second = this.letters.list(first.nextCursor(), 2);

        assertThat(first.deadLetters()).extracting(DeadLetter::messageId).containsExactly("m1002", "m1001");
        assertThat(second.deadLetters()).extracting(DeadLetter::messageId).containsExactly("m1000");
        assertThat(second.nextCursor()).isNull();
    }

    @ParameterizedTest
    @ValueSource(ints = { 0, -1, 101 })
    void aPageHasOneToAHundredDeadLetters(int limit) {
        assertThatIllegalArgumentException().isThrownBy(() -> this.letters.list(null, limit))
            .withMessage("Limit " + limit + " is not valid: use 1 to 100");
        assertThat(this.store.calls).isEmpty();
    }

    @Test
    void aCursorThatIsNotValidIsAWrongArgument() {
        this.store.answers = (call, effect) -> CompletableFuture.supplyAsync(effect);

        assertThatIllegalArgumentException().isThrownBy(() -> this.letters.list("bad", 1))
            .withMessage("This cursor is not valid");
    }

    @Test
    void redriveAndPurgeReturnTheResultOfTheStore() {
        addLetters(2);

        assertThat(this.letters.redrive("m1000~1")).isEqualTo(RedriveResult.REDRIVEN);
        assertThat(this.letters.redrive("m1000~1")).isEqualTo(RedriveResult.NOT_FOUND);
        assertThat(this.letters.purge("m1001~1")).isTrue();
        assertThat(this.letters.purge("m1001~1")).isFalse();
    }

    @Test
    void redriveAllGoesThroughAllPagesAndLeavesWhatCannotBeRedriven() {
        addLetters(250);
        this.store.put("q", "m1003", 0, 0, false, new byte[0]);
        this.store.put("q", "m1249", 0, 0, false, new byte[0]);

        assertThat(this.letters.redriveAll()).isEqualTo(248);

        assertThat(this.store.deadLetters()).extracting(DeadLetter::messageId).containsExactly("m1003", "m1249");
        assertThat(this.store.ids("q")).hasSize(250);
    }

    @Test
    void redriveAllEndsWhenEveryDeadLetterStays() {
        addLetters(200);
        for (int i = 0; i < 200; i++) {
            this.store.put("q", "m" + (1000 + i), 0, 0, false, new byte[0]);
        }

        assertThat(this.letters.redriveAll()).isZero();

        assertThat(this.store.calls).hasSize(200 + 3);
    }

    @Test
    void redriveAllLeavesMessagesThatAreDeadLetteredMeanwhile() {
        addLetters(100);
        this.store.answers = (call, effect) -> {
            Object answer = effect.get();
            if (call.startsWith("redrive")) {
                this.store.addDeadLetter("q", "m2" + call.substring("redrive m1".length(), call.indexOf('~')));
            }
            return CompletableFuture.completedFuture(answer);
        };

        assertThat(this.letters.redriveAll()).isEqualTo(100);
        assertThat(this.store.deadLetters()).hasSize(100);
    }

    @Test
    void purgeAllRemovesAll() {
        addLetters(250);

        assertThat(this.letters.purgeAll()).isEqualTo(250);
        assertThat(this.store.deadLetters()).isEmpty();
        assertThat(this.store.calls).hasSize(3).allMatch("purgeOlderThan PT0S"::equals);
    }

    @Test
    void everyMethodThrowsIfTheStoreDoesNotAnswer() {
        this.store.failOn("", new StoreUnavailableException("away", Effect.NONE, null));

        for (Runnable call : List.<Runnable>of(() -> this.letters.list(null, 1), () -> this.letters.redrive("a~1"),
                this.letters::redriveAll, () -> this.letters.purge("a~1"), this.letters::purgeAll)) {
            assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(call::run);
        }
    }

    private void addLetters(int count) {
        for (int i = 0; i < count; i++) {
            this.store.addDeadLetter("q", "m" + (1000 + i));
        }
    }

    /**
     * P1: an exception that states that nothing was changed must be true, as its caller
     * does not check.
     */
    @Test
    void aFailureOnALaterPageIsNotReportedAsWithoutEffect() {
        addLetters(150);
        this.store.failOn("redrive m1000", new StoreRefusedException("read only", null));

        assertPartly(this.letters::redriveAll);
    }

    @Test
    void aBulkOperationThatFailsOnALaterPageIsNotReportedAsWithoutEffect() {
        addLetters(150);
        this.store.failOn("redrive m1000", new StoreRefusedException("read only", null));

        assertPartly(() -> this.letters.redrive(DeadLetterFilter.ALL, null));
    }

    @Test
    void aStepThatFailsOnTheFirstPageHasNoEffect() {
        addLetters(1);
        this.store.failOn("redrive", new StoreRefusedException("read only", null));

        assertThatExceptionOfType(StoreRefusedException.class).isThrownBy(this.letters::redriveAll)
            .satisfies((ex) -> assertThat(ex.effect()).isEqualTo(Effect.NONE));
    }

    private static void assertPartly(ThrowingCallable call) {
        assertThatExceptionOfType(StoreRefusedException.class).isThrownBy(call)
            .satisfies((ex) -> assertThat(ex.effect()).isEqualTo(Effect.UNKNOWN));
    }

}

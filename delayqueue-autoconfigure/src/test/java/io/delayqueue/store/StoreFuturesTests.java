package io.delayqueue.store;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests calls of the store that an executor starts, or that follow another one. */
class StoreFuturesTests {

    @Test
    void aCallThatIsRejectedFails() {
        assertFails((task) -> {
            throw new RejectedExecutionException("full");
        });
    }

    @Test
    void aCallForWhichNoThreadCanBeCreatedFails() {
        assertFails((task) -> {
            throw new InternalError("unable to create native thread");
        });
    }

    @Test
    void aCallFollowsAnAnswerThatIsKnownOrToCome() {
        CompletableFuture<String> pending = new CompletableFuture<>();
        CompletableFuture<String> second = StoreFutures.then(pending, StoreFuturesTests::answerTo);
        CompletableFuture<String> answer = answerTo("a");

        assertThat(StoreFutures.then(CompletableFuture.completedFuture("a"), (known) -> answer)).isSameAs(answer);
        assertThat(second).isNotDone();
        pending.complete("b");
        assertThat(second).isCompletedWithValue("answer to b");
    }

    @Test
    void aCallThatThrowsFailsWhetherTheEarlierAnswerIsKnownOrNot() {
        CompletableFuture<String> pending = new CompletableFuture<>();
        CompletableFuture<String> second = StoreFutures.then(pending, StoreFuturesTests::refuse);
        pending.complete("b");

        for (CompletableFuture<String> failed : List.of(second,
                StoreFutures.then(CompletableFuture.completedFuture("a"), StoreFuturesTests::refuse))) {
            assertThatThrownBy(failed::join).isInstanceOf(CompletionException.class)
                .hasCauseInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void noCallFollowsAFailure() {
        CompletableFuture<String> failed = StoreFutures
            .then(CompletableFuture.<String>failedFuture(new IllegalStateException("failed")), (answer) -> {
                throw new AssertionError("called");
            });

        assertThatThrownBy(failed::join).hasRootCauseMessage("failed");
    }

    private static CompletableFuture<String> answerTo(String earlier) {
        return CompletableFuture.completedFuture("answer to " + earlier);
    }

    private static CompletableFuture<String> refuse(String earlier) {
        throw new IllegalStateException(earlier);
    }

    private static void assertFails(Executor executor) {
        assertThat(StoreFutures.send(executor, () -> CompletableFuture.completedFuture("answer")))
            .isCompletedExceptionally();
    }

}

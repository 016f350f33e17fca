package io.delayqueue.store;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests calls of the store that an executor starts. */
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

    private static void assertFails(Executor executor) {
        assertThat(StoreFutures.send(executor, () -> CompletableFuture.completedFuture("answer")))
            .isCompletedExceptionally();
    }

}

package io.delayqueue.listener;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * Calls of one loop that were sent back to back.
 *
 * @param sent acknowledgements
 * @param claim {@code null} if it was not time for one
 * @param answers complete when all of these are
 */
record Calls(List<Acknowledgements.Sent> sent, Claims.@Nullable Sent claim, CompletableFuture<Void> answers) {

    static Calls of(List<Acknowledgements.Sent> sent, Claims.@Nullable Sent claim) {
        Stream<CompletableFuture<?>> answers = Stream.concat(sent.stream().map(Acknowledgements.Sent::answers),
                Stream.ofNullable(claim).map(Claims.Sent::answer));
        return new Calls(sent, claim, CompletableFuture.allOf(answers.toArray(CompletableFuture<?>[]::new)));
    }

}

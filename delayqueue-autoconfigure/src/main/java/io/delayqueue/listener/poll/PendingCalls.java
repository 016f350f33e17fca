package io.delayqueue.listener.poll;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * Holds the calls that one loop sent back to back.
 *
 * @param sent acknowledgements
 * @param claim {@code null} if no claim was due
 * @param answers completes when all calls have completed
 */
record PendingCalls(List<AcknowledgementBatcher.Sent> sent, ClaimScheduler.@Nullable Sent claim,
        CompletableFuture<Void> answers) {

    static PendingCalls of(List<AcknowledgementBatcher.Sent> sent, ClaimScheduler.@Nullable Sent claim) {
        Stream<CompletableFuture<?>> answers = Stream.concat(sent.stream().map(AcknowledgementBatcher.Sent::answers),
                Stream.ofNullable(claim).map(ClaimScheduler.Sent::answer));
        return new PendingCalls(sent, claim, CompletableFuture.allOf(answers.toArray(CompletableFuture<?>[]::new)));
    }

}

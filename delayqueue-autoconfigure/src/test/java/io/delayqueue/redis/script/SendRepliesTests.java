package io.delayqueue.redis.script;

import java.util.List;
import java.util.stream.LongStream;

import io.delayqueue.DelayQueueException.Effect;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * P1: a reply that stored nothing, or only a part, is not taken for one that stored all.
 */
class SendRepliesTests {

    private static Effect sent(long... dues) {
        return SendReplies.effect(RedisScripts.SEND, LongStream.of(dues).<Object>mapToObj(Long::valueOf).toList());
    }

    /** Returns the effect of a reply, of outcomes and due times, or of a refusal. */
    private static Effect scheduled(long... outcomes) {
        return SendReplies.effect(RedisScripts.SCHEDULE,
                LongStream.concat(LongStream.of(0), LongStream.of(outcomes)).<Object>mapToObj(Long::valueOf).toList());
    }

    @Test
    void aSendThatFindsAnIdHasStoredNothing() {
        assertThat(sent()).isEqualTo(Effect.NONE);
        assertThat(sent(1_000)).isEqualTo(Effect.STORED);
        assertThat(sent(1_000, 2_000)).isEqualTo(Effect.STORED);
    }

    @Test
    void aCallThatIsRefusedAsAWholeHasStoredNothing() {
        assertThat(scheduled(4, 0)).isEqualTo(Effect.NONE);
        assertThat(scheduled(8, 7)).isEqualTo(Effect.NONE);
    }

    @Test
    void messagesThatAreLeftOutOrKeptOutAreNotStored() {
        assertThat(scheduled(5, 1_000)).isEqualTo(Effect.NONE);
        assertThat(scheduled(7, 1_000)).isEqualTo(Effect.NONE);
        assertThat(scheduled(5, 1_000, 7, 1_000)).isEqualTo(Effect.NONE);
    }

    /** A message that is kept has to be on the replicas as well. */
    @Test
    void messagesThatTheQueueHoldsAreStored() {
        assertThat(List.of(0, 1, 2, 3, 6))
            .allSatisfy((outcome) -> assertThat(scheduled(outcome, 1_000)).isEqualTo(Effect.STORED));
        assertThat(scheduled(7, 1_000, 0, 1_000)).isEqualTo(Effect.STORED);
    }

    @Test
    void aCallThatLeavesOutSomeMessagesHasAnUnknownEffect() {
        assertThat(scheduled(0, 1_000, 5, 1_000)).isEqualTo(Effect.UNKNOWN);
        assertThat(scheduled(5, 1_000, 2, 1_000)).isEqualTo(Effect.UNKNOWN);
    }

}

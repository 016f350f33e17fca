package io.delayqueue.redis;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Bytes to values. */
class RepliesTests {

    @Test
    void roundsScoresUp() {
        assertThat(Replies.ceil(Replies.bytes("1790000000000"))).isEqualTo(1_790_000_000_000L);
        assertThat(Replies.ceil(Replies.bytes("1790000000000.25"))).isEqualTo(1_790_000_000_001L);
        assertThat(Replies.ceil(Replies.bytes("-1.5"))).isEqualTo(-1);
        assertThat(Replies.ceil(Replies.bytes("0"))).isZero();
        assertThat(Replies.ceil(Replies.bytes("inf"))).isEqualTo((1L << 53) - 1);
        assertThat(Replies.ceil(Replies.bytes("-inf"))).isEqualTo(1 - (1L << 53));
        assertThat(Replies.ceil(Replies.bytes("1e+300"))).isEqualTo((1L << 53) - 1);
    }

}

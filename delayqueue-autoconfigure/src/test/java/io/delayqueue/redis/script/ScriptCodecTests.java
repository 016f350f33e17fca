package io.delayqueue.redis.script;

import java.time.Instant;

import io.delayqueue.redis.DeadLetterContent;
import io.delayqueue.redis.script.ScriptCodec.Attempts;
import io.delayqueue.redis.script.ScriptCodec.Details;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the conversion of bytes to values. */
class ScriptCodecTests {

    @Test
    void roundsScoresUp() {
        assertThat(ScriptCodec.ceil(ScriptCodec.bytes("1790000000000"))).isEqualTo(1_790_000_000_000L);
        assertThat(ScriptCodec.ceil(ScriptCodec.bytes("1790000000000.25"))).isEqualTo(1_790_000_000_001L);
        assertThat(ScriptCodec.ceil(ScriptCodec.bytes("-1.5"))).isEqualTo(-1);
        assertThat(ScriptCodec.ceil(ScriptCodec.bytes("0"))).isZero();
        assertThat(ScriptCodec.ceil(ScriptCodec.bytes("inf"))).isEqualTo((1L << 53) - 1);
        assertThat(ScriptCodec.ceil(ScriptCodec.bytes("-inf"))).isEqualTo(1 - (1L << 53));
        assertThat(ScriptCodec.ceil(ScriptCodec.bytes("1e+300"))).isEqualTo((1L << 53) - 1);
    }

    @Test
    void escapedNamesCanBeLoggedAndDecoded() {
        assertThat(ScriptCodec.name(ScriptCodec.bytes("order:42~17"))).isEqualTo("order:42~17");
        byte[] hostile = { 'a', '\n', 0, (byte) 0xff, '%', '4' };
        assertThat(ScriptCodec.name(hostile)).isEqualTo("a%0A%00%FF%254");
        assertThat(ScriptCodec.bytesOfName("a%0A%00%FF%254")).isEqualTo(hostile);
        assertThat(ScriptCodec.bytesOfName("100%")).isEqualTo(ScriptCodec.bytes("100%"));
    }

    @ParameterizedTest
    @ValueSource(strings = { "", "x", "1:2", "-1:0:0:h:1:", "1:0:0:h:x:", ":::::" })
    void unreadableAttemptsAreNone(String entry) {
        assertThat(Attempts.of(ScriptCodec.bytes(entry))).isEqualTo(new Attempts(0, 0, false));
    }

    @Test
    void countsAndTimesAreBounded() {
        String large = "9".repeat(400);
        Instant latest = Instant.ofEpochMilli(999_999_999_999_999L);

        assertThat(Attempts.of(ScriptCodec.bytes(large + ":1:2:l:1:a:b\n")))
            .isEqualTo(new Attempts(999_999_999, 1, true));
        assertThat(Details.of(ScriptCodec.bytes(large + ":" + large + ":9:g\n")))
            .isEqualTo(new Details(latest, latest, 9, "g%0A"));
    }

    @ParameterizedTest
    @ValueSource(strings = { "", "x", "0:0:0:0:0:4:0:", "0:0:0:0:0:4:1:0:", "0:0:0:0:0:4+9:0:0:",
            "inf:nan:0:0:0:4:0:0:", "0:0:0:0:0:4:999999999:999999999:" })
    void anUnreadableDeadLetterIsReportedAsUnreadable(String content) {
        assertThat(DeadLetterContent.parse(ScriptCodec.bytes(content))).isSameAs(DeadLetterContent.UNREADABLE);
    }

}

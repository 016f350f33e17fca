package io.delayqueue.redis.script;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Random;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A stamp is the same in all versions of the library, or a redrive that is repeated by a
 * node of another version would store a message twice.
 */
class StampTests {

    @Test
    void aStampIsALetterAndSevenCharactersOfTheOperation() {
        Random random = new Random(1);
        for (int i = 0; i < 1000; i++) {
            long operation = random.nextLong();
            byte[] bits = new byte[6];
            for (int k = 0; k < bits.length; k++) {
                bits[k] = (byte) (operation >>> (8 * k));
            }
            String expected = "s" + Base64.getUrlEncoder().encodeToString(bits).substring(1);

            assertThat(
                    new String(ScriptArguments.stamped(operation, new byte[] { '{', '}' }), StandardCharsets.US_ASCII))
                .isEqualTo(expected + "{}");
        }
    }

}

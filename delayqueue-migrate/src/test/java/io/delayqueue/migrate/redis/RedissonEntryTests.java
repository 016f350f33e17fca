package io.delayqueue.migrate.redis;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;

import io.delayqueue.migrate.SourceEntry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Reads members of a Redisson queue, whose forms real versions confirm elsewhere. */
class RedissonEntryTests {

    private static final Instant DUE = Instant.ofEpochMilli(1_800_000_000_123L);

    @ParameterizedTest
    @ValueSource(ints = { 0, 1, 2, 8, 16, 17, 255, 256, 65_536 })
    void readsBothForms(int length) {
        byte[] value = "x".repeat(length).getBytes(StandardCharsets.US_ASCII);

        assertThat(read(recent(value, ByteOrder.LITTLE_ENDIAN)).payload()).isEqualTo(value);
        assertThat(read(old(value, ByteOrder.LITTLE_ENDIAN)).payload()).isEqualTo(value);
        assertThat(read(recent(value, ByteOrder.BIG_ENDIAN)).payload()).isEqualTo(value);
        assertThat(read(old(value, ByteOrder.BIG_ENDIAN)).payload()).isEqualTo(value);
    }

    @Test
    void keepsTheDueTimeToTheMillisecond() {
        byte[] member = recent(new byte[] { '1' }, ByteOrder.LITTLE_ENDIAN);

        assertThat(RedissonEntry.read("id", "1800000000123", member).dueAt()).isEqualTo(DUE);
        assertThat(RedissonEntry.read("id", "1.800000000123e+12", member).dueAt()).isEqualTo(DUE);
        assertThat(RedissonEntry.read("id", "1800000000122.5", member).dueAt()).isEqualTo(DUE);
    }

    @ParameterizedTest
    @CsvSource({ "inf, 9223372036854775807", "9.2233720368547758e+18, 9223372036854775807",
            "-inf, -9223372036854775808", "-1e+20, -9223372036854775808" })
    void aScoreThatIsNoTimeIsTheNearestTime(String score, long millis) {
        byte[] member = recent(new byte[] { '1' }, ByteOrder.LITTLE_ENDIAN);

        assertThat(RedissonEntry.read("id", score, member).dueAt()).isEqualTo(Instant.ofEpochMilli(millis));
    }

    @Test
    void aMemberOfNoKnownFormIsUnreadable() {
        assertThat(read(new byte[0]).problem()).contains("neither the form of Redisson 3.21.1");
        assertThat(read("{\"number\":1}".getBytes(StandardCharsets.US_ASCII)).problem()).isNotNull();
        byte[] cut = recent(new byte[9], ByteOrder.LITTLE_ENDIAN);
        assertThat(read(java.util.Arrays.copyOf(cut, cut.length - 1)).problem()).isNotNull();
    }

    @Test
    void aMemberWithoutADueTimeIsUnreadable() {
        byte[] member = recent(new byte[] { '1' }, ByteOrder.LITTLE_ENDIAN);

        assertThat(RedissonEntry.read("id", null, member).problem()).contains("no due time");
    }

    private static SourceEntry read(byte[] member) {
        return RedissonEntry.read("id", "1800000000123", member);
    }

    private static byte[] recent(byte[] value, ByteOrder order) {
        return ByteBuffer.allocate(17 + value.length)
            .order(order)
            .put((byte) 8)
            .putLong(0x0102030405060708L)
            .putLong(value.length)
            .put(value)
            .array();
    }

    private static byte[] old(byte[] value, ByteOrder order) {
        return ByteBuffer.allocate(16 + value.length)
            .order(order)
            .putDouble(-7.25e18)
            .putLong(value.length)
            .put(value)
            .array();
    }

}

package io.delayqueue.migrate.jdbc;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;

import io.delayqueue.migrate.SourceEntry;
import tools.jackson.databind.json.JsonMapper;

/**
 * Holds the data maps of a job and of its trigger, as Quartz has stored them: as
 * properties if {@code org.quartz.jobStore.useProperties} is set, otherwise as a
 * serialized Java object. A decoder for serialized maps gets them by {@link #of}.
 *
 * @param job the data of the job; empty if there is none
 * @param trigger the data of the trigger; empty if there is none
 */
@SuppressWarnings("ArrayRecordComponent")
public record QuartzData(byte[] job, byte[] trigger) {

    private static final JsonMapper MAPPER = JsonMapper.builder().build();

    /** Begins each stream of serialized Java objects. */
    private static final byte[] SERIALIZED = { (byte) 0xac, (byte) 0xed };

    /** Begins a serialized {@code JobDataMap}, up to the name of the class. */
    private static final byte[] MAP = HexFormat.of()
        .parseHex("aced0005737200156f72672e71756172747a2e4a6f62446174614d6170");

    /** Ends one that is empty: no entry, the end of the entries, and a flag. */
    private static final byte[] NO_ENTRIES = { 0, 0, 0, 0, 0x78, 0 };

    /** The length in Quartz 2.3 and 2.4. A map with entries is longer. */
    private static final int EMPTY_MAP_LENGTH = 273;

    /** Begins the payload of an entry whose data is serialized. */
    private static final byte MARK = 0;

    /** Quartz also stores maps without entries, which their bytes identify. */
    public QuartzData {
        job = isEmptyMap(job) ? new byte[0] : job;
        trigger = isEmptyMap(trigger) ? new byte[0] : trigger;
    }

    private static boolean isEmptyMap(byte[] data) {
        return data.length == EMPTY_MAP_LENGTH && Arrays.mismatch(data, MAP) == MAP.length
                && Arrays.equals(data, data.length - NO_ENTRIES.length, data.length, NO_ENTRIES, 0, NO_ENTRIES.length);
    }

    /**
     * Returns the serialized data of an entry.
     * @throws IllegalArgumentException if the entry has none; then its payload is JSON
     */
    public static QuartzData of(SourceEntry entry) {
        ByteBuffer bytes = ByteBuffer.wrap(entry.payload());
        if (bytes.remaining() < 1 + Integer.BYTES || bytes.get() != MARK) {
            throw new IllegalArgumentException("it has no serialized data map");
        }
        byte[] job = new byte[bytes.getInt()];
        bytes.get(job);
        byte[] trigger = new byte[bytes.remaining()];
        bytes.get(trigger);
        return new QuartzData(job, trigger);
    }

    /**
     * Returns the payload for an entry: a JSON object of both maps, in which the trigger
     * counts; or the bytes of both if one of them is serialized.
     */
    byte[] payload() {
        if (isSerialized(this.job) || isSerialized(this.trigger)) {
            return ByteBuffer.allocate(1 + Integer.BYTES + this.job.length + this.trigger.length)
                .put(MARK)
                .putInt(this.job.length)
                .put(this.job)
                .put(this.trigger)
                .array();
        }
        Map<String, Object> merged = new TreeMap<>();
        properties(this.job).forEach((name, value) -> merged.put(name.toString(), value));
        properties(this.trigger).forEach((name, value) -> merged.put(name.toString(), value));
        return MAPPER.writeValueAsBytes(merged);
    }

    private static boolean isSerialized(byte[] data) {
        return Arrays.mismatch(data, SERIALIZED) == SERIALIZED.length;
    }

    private static Properties properties(byte[] data) {
        Properties properties = new Properties();
        try {
            properties.load(new ByteArrayInputStream(data));
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
        return properties;
    }

}

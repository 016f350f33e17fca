package io.delayqueue.benchmarks.jmh;

import java.util.Map;

import io.delayqueue.store.envelope.EnvelopeCodec;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import tools.jackson.databind.json.JsonMapper;

/** Writes the stored form of a message, with and without headers. */
@State(Scope.Benchmark)
public class EnvelopeBenchmark {

    private final EnvelopeCodec codec = new EnvelopeCodec(JsonMapper.builder().build());

    private final Map<String, String> headers = Map.of("tenant", "acme", "locale", "en-GB");

    @Benchmark
    public byte[] write() {
        return this.codec.write(Application.WORK, Map.of());
    }

    @Benchmark
    public byte[] writeWithHeaders() {
        return this.codec.write(Application.WORK, this.headers);
    }

}

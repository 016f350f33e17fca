package io.delayqueue.engine;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

import io.delayqueue.NodeStatus;
import io.delayqueue.NodeStatus.ListenerStatus;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** What nodes say is shown as they said it, and what others wrote stops nobody. */
class NodeCodecTests {

    private static final Instant NOW = Instant.parse("2030-01-01T00:00:00Z");

    private static NodeDirectory.Report report(byte[] content) {
        return new NodeDirectory.Report("n", content, NOW);
    }

    @Test
    void readsWhatItWrote() {
        ListenerStatus listener = new ListenerStatus("<b>", List.of("q", "r"), 10, 7, true, true);
        byte[] written = NodeCodec.write(new NodeCodec.Node("n", "shop", "host", 42, "0.1"), Duration.ofMinutes(1),
                List.of(listener));

        assertThat(NodeCodec.read(report(written)))
            .contains(new NodeStatus("n", "shop", "host", 42, "0.1", NOW.minusSeconds(60), NOW, List.of(listener)));
    }

    @ParameterizedTest
    @ValueSource(strings = { "", "{", "[]", "null", "7", "\"x\"", "\u0000" })
    void leavesOutWhatIsNone(String content) {
        assertThat(NodeCodec.read(report(content.getBytes(StandardCharsets.UTF_8)))).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = { "{}", "{\"pid\":\"x\",\"uptime\":1e300,\"listeners\":7}",
            "{\"uptime\":-1,\"listeners\":[7,{\"queues\":{}},{\"id\":[],\"free\":1e99,\"running\":\"no\"}]}" })
    void takesNothingForWhatItCannotRead(String content) {
        assertThat(NodeCodec.read(report(content.getBytes(StandardCharsets.UTF_8)))).hasValueSatisfying((node) -> {
            assertThat(node.id()).isEqualTo("n");
            assertThat(node.startedAt()).isBeforeOrEqualTo(NOW);
        });
    }

    @Test
    void readsNothingThatIsTooLong() {
        assertThat(NodeCodec.read(report(new byte[200_000]))).isEmpty();
    }

}

package io.delayqueue.store;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

import io.delayqueue.admin.NodeStatus;
import io.delayqueue.admin.NodeStatus.ListenerStatus;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Checks that reports of nodes are shown unchanged, and that foreign entries do no harm.
 */
class NodeStatusCodecTests {

    private static final Instant NOW = Instant.parse("2030-01-01T00:00:00Z");

    private static NodeRegistry.Report report(byte[] content) {
        return new NodeRegistry.Report("n", content, NOW);
    }

    @Test
    void readsWhatItWrote() {
        ListenerStatus listener = new ListenerStatus("<b>", List.of("q", "r"), 10, 7, true, true, "<waits>");
        byte[] written = NodeStatusCodec.write(new NodeStatusCodec.Node("n", "shop", "host", 42, "0.1"),
                Duration.ofMinutes(1), List.of(listener));

        assertThat(NodeStatusCodec.read(report(written)))
            .contains(new NodeStatus("n", "shop", "host", 42, "0.1", NOW.minusSeconds(60), NOW, List.of(listener)));
    }

    @ParameterizedTest
    @ValueSource(strings = { "", "{", "[]", "null", "7", "\"x\"", "\u0000" })
    void leavesOutWhatIsNone(String content) {
        assertThat(NodeStatusCodec.read(report(content.getBytes(StandardCharsets.UTF_8)))).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = { "{}", "{\"pid\":\"x\",\"uptime\":1e300,\"listeners\":7}",
            "{\"uptime\":-1,\"listeners\":[7,{\"queues\":{}},{\"id\":[],\"free\":1e99,\"running\":\"no\"}]}" })
    void takesNothingForWhatItCannotRead(String content) {
        assertThat(NodeStatusCodec.read(report(content.getBytes(StandardCharsets.UTF_8))))
            .hasValueSatisfying((node) -> {
                assertThat(node.id()).isEqualTo("n");
                assertThat(node.startedAt()).isBeforeOrEqualTo(NOW);
            });
    }

    @Test
    void readsNothingThatIsTooLong() {
        assertThat(NodeStatusCodec.read(report(new byte[200_000]))).isEmpty();
    }

}

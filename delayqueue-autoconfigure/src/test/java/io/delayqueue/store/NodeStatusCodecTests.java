package io.delayqueue.store;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;

import io.delayqueue.admin.ListenerOverride;
import io.delayqueue.admin.NodeStatus;
import io.delayqueue.admin.NodeStatus.IntakeStatus;
import io.delayqueue.admin.NodeStatus.ListenerStatus;
import io.delayqueue.admin.NodeStatus.QueueStatus;
import io.delayqueue.admin.NodeStatus.RunningHandler;
import io.delayqueue.admin.NodeStatus.RunningHandlers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Checks that reports of nodes are shown unchanged, and that foreign entries do no harm.
 */
class NodeStatusCodecTests {

    private static final Instant NOW = Instant.parse("2030-01-01T00:00:00Z");

    private static final IntakeStatus INTAKE = new IntakeStatus("kafka:<b>", "q", true, "<waits>", 5, 1, 2, 3);

    private static NodeRegistry.Report report(byte[] content) {
        return new NodeRegistry.Report("n", content, NOW);
    }

    private static byte[] write(List<ListenerStatus> listeners, RunningHandlers handlers) {
        return NodeStatusCodec.write(new NodeStatusCodec.Node("n", "shop", "host", 42, "0.1"), Duration.ofMinutes(1),
                listeners, handlers, List.of(INTAKE));
    }

    @Test
    void readsWhatItWrote() {
        ListenerOverride override = new ListenerOverride("<b>", "r", null, true, "<alice>", NOW, NOW.plusSeconds(60));
        ListenerStatus listener = new ListenerStatus("<b>", List.of("q", "r"), 10, 7, true, true, "<waits>", 5, 2,
                List.of(new QueueStatus("q", 10, 10, 7, null), new QueueStatus("r", 10, 10, 0, override)));
        RunningHandlers handlers = new RunningHandlers(3, 1,
                List.of(new RunningHandler("<b>", "q", "1", 1, 2, Duration.ofMinutes(2), true)));

        assertThat(NodeStatusCodec.read(report(write(List.of(listener), handlers)))).contains(new NodeStatus("n",
                "shop", "host", 42, "0.1", NOW.minusSeconds(60), NOW, List.of(listener), handlers, List.of(INTAKE)));
    }

    /**
     * An id of 128 characters is the longest; of some lengths the limit is met exactly.
     */
    @ParameterizedTest
    @ValueSource(ints = { 1, 60, 100, 113, 128 })
    void writesTheHandlersThatRunLongestAsFarAsTheyFit(int length) {
        List<RunningHandler> handlers = IntStream.range(0, 200)
            .mapToObj((i) -> new RunningHandler("l", "q", "x".repeat(length), 1, 1, Duration.ofMillis(100 + i), false))
            .toList();

        byte[] written = write(List.of(), new RunningHandlers(200, 0, handlers));

        List<RunningHandler> read = NodeStatusCodec.read(report(written)).orElseThrow().handlers().longest();
        assertThat(read).isEqualTo(handlers.subList(0, read.size()));
        String json = new String(written, StandardCharsets.UTF_8);
        int list = json.indexOf("},\"intakes\":") - json.indexOf("\"longest\":") - 10;
        int entry = (list - 2 - (read.size() - 1)) / read.size();
        assertThat(list).isLessThanOrEqualTo(4_096).isGreaterThan(4_096 - entry - 1);
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
        assertThat(NodeStatusCodec.read(report("{%s}".formatted(" ".repeat(199_998)).getBytes(StandardCharsets.UTF_8))))
            .isPresent();
        assertThat(NodeStatusCodec.read(report("{%s}".formatted(" ".repeat(199_999)).getBytes(StandardCharsets.UTF_8))))
            .isEmpty();
    }

}

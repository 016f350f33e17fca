package io.delayqueue.template;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;

import io.delayqueue.StoreUnavailableException;
import io.delayqueue.admin.HandlerStacks;
import io.delayqueue.admin.ListenerOverride;
import io.delayqueue.admin.NodeOperations;
import io.delayqueue.admin.NodeOperations.OverrideRequest;
import io.delayqueue.admin.WantedNodeState.StackRequest;
import io.delayqueue.memory.InMemoryMessageStore;
import io.delayqueue.store.HandlerStacksCodec;
import io.delayqueue.store.NodeRegistry;
import io.delayqueue.store.NodeRegistry.NodeEntry;
import io.delayqueue.store.WantedStateCodec;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/** Tests the bounds of overrides, and that no operator loses the change of another. */
class NodeOperationsTemplateTests {

    private static final Duration HOUR = Duration.ofHours(1);

    private final AtomicLong micros = new AtomicLong(1_000_000_000);

    private final NodeRegistry registry = new InMemoryMessageStore(TemplateFixture.CODEC, this.micros::get)
        .nodeRegistry();

    private final NodeOperations nodes = new NodeOperationsTemplate(this.registry, Duration.ofSeconds(10));

    @BeforeEach
    void reportANode() {
        this.registry.report("n", "{}".getBytes(StandardCharsets.UTF_8)).join();
    }

    private static OverrideRequest request(String listener, String queue, Integer concurrency) {
        return new OverrideRequest(listener, queue, concurrency, concurrency == null, "alice", HOUR);
    }

    private List<ListenerOverride> wanted() {
        return this.nodes.wanted("n").orElseThrow().overrides();
    }

    @Test
    void anOverrideReplacesThatOfTheSameListenerAndQueue() {
        this.nodes.override("n", request("l", "q", 2));
        this.nodes.override("n", request("l", "r", 3));
        ListenerOverride latest = this.nodes.override("n", request("l", "q", null)).orElseThrow();

        assertThat(Duration.between(latest.at(), latest.until())).isEqualTo(HOUR);
        assertThat(wanted()).extracting(ListenerOverride::queue).containsExactly("r", "q");
        assertThat(wanted()).last().isEqualTo(latest);
        assertThat(this.nodes.withdraw("n", "l", "q")).contains(true);
        assertThat(this.nodes.withdraw("n", "l", "q")).contains(false);
        assertThat(wanted()).extracting(ListenerOverride::queue).containsExactly("r");
    }

    private ListenerOverride override(Integer concurrency, Boolean paused) {
        return this.nodes.override("n", new OverrideRequest("l", "q", concurrency, paused, "bob", HOUR)).orElseThrow();
    }

    @Test
    void aPauseAndAConcurrencyKeepEachOther() {
        override(2, null);
        assertThat(override(null, true)).extracting(ListenerOverride::concurrency, ListenerOverride::paused)
            .containsExactly(2, true);
        assertThat(override(3, null)).extracting(ListenerOverride::concurrency, ListenerOverride::paused)
            .containsExactly(3, true);
        assertThat(override(null, false)).extracting(ListenerOverride::concurrency, ListenerOverride::paused)
            .containsExactly(3, false);
        assertThat(wanted()).hasSize(1);
    }

    /**
     * Another operator may have set a concurrency since the one who resumes read the
     * page.
     */
    @Test
    void theEndOfAPauseEndsTheOverrideUnlessAConcurrencyIsSet() {
        override(null, true);
        assertThat(override(null, false)).extracting(ListenerOverride::concurrency, ListenerOverride::paused)
            .containsExactly(null, false);
        assertThat(wanted()).isEmpty();
        assertThat(override(null, false).paused()).as("repeated").isFalse();
        assertThat(wanted()).isEmpty();

        override(null, true);
        override(2, null);
        override(null, false);
        assertThat(wanted()).singleElement()
            .extracting(ListenerOverride::concurrency, ListenerOverride::paused)
            .containsExactly(2, false);
    }

    @Test
    void anOverrideThatHasEndedIsLeftOut() {
        this.nodes.override("n", request("l", "q", 2));
        for (int i = 0; i < 360; i++) {
            this.micros.addAndGet(Duration.ofSeconds(10).toMillis() * 1_000);
            reportANode();
        }
        assertThat(wanted()).isEmpty();
    }

    @Test
    void aNodeThatIsGoneIsNotChanged() {
        assertThat(this.nodes.override("other", request("l", "q", 2))).isEmpty();
        assertThat(this.nodes.withdraw("other", "l", "q")).isEmpty();
        assertThat(this.nodes.requestStacks("other", "alice")).isEmpty();
        assertThat(this.nodes.wanted("other")).isEmpty();
        assertThat(this.nodes.stacks("other")).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({ "0,false,1h", "10001,false,1h", ",,1h", "1,false,0s", "1,true,25h" })
    void rejectsWhatIsOutOfBounds(Integer concurrency, Boolean paused, String duration) {
        Duration time = Duration.parse("PT" + duration.toUpperCase());
        assertThatIllegalArgumentException()
            .isThrownBy(() -> new OverrideRequest("l", "q", concurrency, paused, "alice", time));
    }

    @Test
    void aNodeHasAtMostFiftyOverrides() {
        for (int i = 0; i < NodeOperations.MAX_OVERRIDES; i++) {
            this.nodes.override("n", request("l" + i, "q", 2));
        }
        assertThatIllegalArgumentException().isThrownBy(() -> this.nodes.override("n", request("l", "q", 2)))
            .withMessageContaining("has 50 overrides already");
        this.nodes.override("n", request("l7", "q", 3));
        assertThat(wanted()).hasSize(50);
    }

    @Test
    void twoOperatorsAtOnceLoseNoChange() {
        NodeRegistry racing = mock();
        NodeOperations bob = new NodeOperationsTemplate(racing, Duration.ofSeconds(10));
        given(racing.wanted("n")).willAnswer((call) -> {
            CompletableFuture<NodeEntry> read = this.registry.wanted("n");
            this.nodes.override("n", request("l", "q", 2)); // alice, right after the read
            return read;
        });
        given(racing.change(any(), any(), any()))
            .willAnswer((call) -> this.registry.change(call.getArgument(0), call.getArgument(1), call.getArgument(2)));

        bob.override("n", request("l", "r", 3));

        assertThat(wanted()).extracting(ListenerOverride::queue).containsExactly("q", "r");
    }

    /** Bob has opened the dialog before Alice paused the listener. */
    @Test
    void aConcurrencyKeepsThePauseThatAnotherOperatorRequestsAtOnce() {
        NodeRegistry racing = mock();
        NodeOperations bob = new NodeOperationsTemplate(racing, Duration.ofSeconds(10));
        given(racing.wanted("n")).willAnswer((call) -> {
            CompletableFuture<NodeEntry> read = this.registry.wanted("n");
            override(null, true); // alice, right after the read
            return read;
        });
        given(racing.change(any(), any(), any()))
            .willAnswer((call) -> this.registry.change(call.getArgument(0), call.getArgument(1), call.getArgument(2)));

        bob.override("n", new OverrideRequest("l", "q", 3, null, "bob", HOUR));

        assertThat(wanted()).singleElement().matches((one) -> one.paused() && one.concurrency() == 3);
    }

    @Test
    void failsIfOthersNeverStop() {
        NodeRegistry racing = mock();
        given(racing.wanted("n")).willReturn(this.registry.wanted("n"));
        given(racing.change(any(), any(), any())).willAnswer((call) -> this.registry.wanted("n"));
        NodeOperations bob = new NodeOperationsTemplate(racing, Duration.ofSeconds(10));

        assertThatExceptionOfType(StoreUnavailableException.class)
            .isThrownBy(() -> bob.override("n", request("l", "r", 3)))
            .withMessageContaining("was not changed");
    }

    @Test
    void stacksAreReturnedUntilTheyEnd() {
        StackRequest request = this.nodes.requestStacks("n", "alice").orElseThrow();
        assertThat(this.nodes.wanted("n").orElseThrow().stackRequest()).isEqualTo(request);
        HandlerStacks taken = new HandlerStacks(request.at(), request.at(), request.at().plusSeconds(5), List.of());
        this.registry.putStacks("n", HandlerStacksCodec.write(taken)).join();
        assertThat(this.nodes.stacks("n")).contains(taken);
        this.micros.addAndGet(5_000_000);
        assertThat(this.nodes.stacks("n")).isEmpty();
    }

    /** Any client of Redis may write a state. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = { "{", "[]", "7", "{\"overrides\": 7, \"stacks\": []}",
            "{\"overrides\": [7, {}, {\"concurrency\": 1e99, \"until\": 1e99}]}" })
    void readsNothingFromAStateThatIsNoState(String content) {
        this.registry.change("n", new byte[0], content.getBytes(StandardCharsets.UTF_8)).join();
        assertThat(wanted()).isEmpty();
        assertThat(this.nodes.override("n", request("l", "q", 2))).isPresent();
        assertThat(wanted()).hasSize(1);
        assertThat(WantedStateCodec.write(this.nodes.wanted("n").orElseThrow())).isNotEmpty();
    }

}

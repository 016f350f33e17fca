package io.delayqueue.listener;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.admin.ListenerOverride;
import io.delayqueue.admin.NodeStatus.IntakeStatus;
import io.delayqueue.admin.NodeStatus.RunningHandlers;
import io.delayqueue.admin.WantedNodeState;
import io.delayqueue.fixtures.ManualNanoClock;
import io.delayqueue.listener.poll.HandlerMonitor;
import io.delayqueue.listener.poll.ListenerStatistics;
import io.delayqueue.store.NodeRegistry;
import io.delayqueue.store.NodeRegistry.NodeEntry;
import io.delayqueue.store.NodeStatusCodec;
import io.delayqueue.store.WantedStateCodec;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.mockito.ArgumentCaptor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.willThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;

/** Tests what a node does with the answers to its reports. */
class NodeHeartbeatTests {

    private static final Instant NOW = Instant.parse("2030-01-01T00:00:00Z");

    private static final ListenerOverride OVERRIDE = new ListenerOverride("l", "q", 2, false, "alice", NOW,
            NOW.plusSeconds(60));

    private static final NodeEntry ANSWER = new NodeEntry(true, NOW,
            WantedStateCodec.write(new WantedNodeState(List.of(OVERRIDE), null)));

    private static final IntakeStatus INTAKE = new IntakeStatus("kafka:later", "orders", true, null, 1, 0, 0, 0);

    private final NodeRegistry registry = mock();

    private final ListenerContainer listener = mock();

    private final HandlerMonitor handlers = mock();

    private final NodeHeartbeat heartbeat = new NodeHeartbeat(this.registry,
            new NodeStatusCodec.Node("n", "shop", "host", 42, null), () -> List.of(this.listener),
            () -> List.of(INTAKE), new ManualNanoClock(), Duration.ofMinutes(1), () -> {
            });

    @BeforeEach
    void prepare() {
        given(this.listener.id()).willReturn("l");
        given(this.listener.statistics()).willReturn(new ListenerStatistics(0, 0, 0, 0, 0, 0, 0, 0));
        given(this.handlers.running()).willReturn(RunningHandlers.NONE);
        given(this.registry.report(any(), any())).willReturn(CompletableFuture.completedFuture(ANSWER));
        given(this.registry.remove(any())).willReturn(CompletableFuture.completedFuture(null));
        this.heartbeat.begin();
    }

    @Test
    void reportsTheIntakesOfTheNode() {
        this.heartbeat.report(this.handlers);

        ArgumentCaptor<byte[]> content = ArgumentCaptor.captor();
        verify(this.registry, times(2)).report(eq("n"), content.capture());
        assertThat(NodeStatusCodec.read(new NodeRegistry.Report("n", content.getValue(), Instant.EPOCH)))
            .hasValueSatisfying((node) -> assertThat(node.intakes()).containsExactly(INTAKE));
    }

    @Test
    void reportsAgainAtOnceWhatAnAnswerHasChanged() {
        this.heartbeat.report(this.handlers);
        verify(this.listener).override(List.of(OVERRIDE));
        verify(this.registry, times(2)).report(any(), any());
        this.heartbeat.report(this.handlers);
        verify(this.registry, times(3)).report(any(), any());
    }

    @Test
    void anAnswerThatComesAfterTheStopChangesNothing() {
        CompletableFuture<NodeEntry> answer = new CompletableFuture<>();
        given(this.registry.report(any(), any())).willReturn(answer);
        this.heartbeat.report(this.handlers);
        this.heartbeat.withdraw();

        answer.complete(ANSWER);

        verify(this.listener, never()).override(any());
        verify(this.registry).report(any(), any());
    }

    /** It would list the node again, after its removal. */
    @Test
    void aReportThatIsLateForTheStopIsNotSent() {
        this.heartbeat.withdraw();
        this.heartbeat.report(this.handlers);
        verify(this.registry, never()).report(any(), any());
    }

    @Test
    void theStopOfAnEarlierRunWithdrawsNothing() {
        this.heartbeat.begin();
        this.heartbeat.report(this.handlers);

        this.heartbeat.withdraw();

        verify(this.registry, never()).remove(any());
        verify(this.listener, never()).override(List.of());
        this.heartbeat.withdraw();
        verify(this.registry).remove("n");
        verify(this.listener).override(List.of());
    }

    @Test
    void theNextRunAppliesOverridesAgain() {
        this.heartbeat.report(this.handlers);
        this.heartbeat.withdraw();
        this.heartbeat.begin();
        this.heartbeat.report(this.handlers);
        verify(this.listener, times(2)).override(List.of(OVERRIDE));
    }

    @Test
    void logsThatAnOverrideCannotBeAppliedAndRetries() {
        willThrow(new IllegalStateException()).given(this.listener).override(any());
        this.heartbeat.report(this.handlers);
        verify(this.handlers).log(any());

        this.heartbeat.report(this.handlers);
        verify(this.listener, times(3)).override(List.of(OVERRIDE));
        verify(this.registry, times(2)).report(any(), any());
    }

}

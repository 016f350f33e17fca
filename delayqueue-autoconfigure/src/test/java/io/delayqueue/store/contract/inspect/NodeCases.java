package io.delayqueue.store.contract.inspect;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.fixtures.store.StoreCases;
import io.delayqueue.fixtures.store.StoreFixture;
import io.delayqueue.store.NodeRegistry;
import io.delayqueue.store.NodeRegistry.NodeEntry;
import org.junit.jupiter.api.Test;

import static io.delayqueue.fixtures.store.StoreValues.at;
import static org.assertj.core.api.Assertions.assertThat;

/** The wanted states of nodes, and the stacks of their handlers. */
public abstract class NodeCases extends StoreCases {

    private static final Duration GONE = NodeRegistry.MAX_AGE.plusMillis(1);

    private final StoreFixture contract;

    public NodeCases(StoreFixture contract) {
        super(contract);
        this.contract = contract;
    }

    private NodeRegistry nodes() {
        return this.contract.nodes();
    }

    private String report(String node) {
        return text(nodes().report(node, bytes("{}")));
    }

    private String change(String node, String before, String wanted) {
        return text(nodes().change(node, bytes(before), bytes(wanted)));
    }

    private static String text(CompletableFuture<NodeEntry> answer) {
        NodeEntry entry = answer.join();
        return entry.alive() ? new String(entry.content(), StandardCharsets.UTF_8) : "gone";
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void aNodeTakesWhatIsWantedWithItsNextReport() {
        assertThat(report("one")).isEmpty();
        assertThat(report("two")).isEmpty();
        assertThat(change("one", "", "pause")).isEqualTo("pause");

        assertThat(report("one")).isEqualTo("pause");
        assertThat(report("one")).as("until it is changed").isEqualTo("pause");
        assertThat(report("two")).isEmpty();
        assertThat(text(nodes().wanted("one"))).isEqualTo("pause");
        assertThat(nodes().wanted("one").join().now()).isEqualTo(at(0));
    }

    @Test
    void oneOfTwoOperatorsReadsTheChangeOfTheOtherFirst() {
        report("one");
        assertThat(change("one", "", "alice")).isEqualTo("alice");
        assertThat(change("one", "", "bob")).as("read before the change of alice").isEqualTo("alice");
        assertThat(change("one", "alice", "alice and bob")).isEqualTo("alice and bob");
        assertThat(report("one")).isEqualTo("alice and bob");
    }

    /** The answer of the first call was lost. */
    @Test
    void aRepeatedChangeHasTheSameResult() {
        report("one");
        assertThat(this.contract.replay(() -> change("one", "", "pause"))).isEqualTo("pause");
        assertThat(this.contract.replay(() -> change("one", "pause", ""))).isEmpty();
        assertThat(report("one")).isEmpty();
    }

    @Test
    void aNodeThatIsGoneKeepsNothingAndIsNotChanged() {
        report("one");
        change("one", "", "pause");
        nodes().putStacks("one", bytes("frames")).join();
        this.dq.advance(GONE);

        assertThat(text(nodes().wanted("one"))).isEqualTo("gone");
        assertThat(change("one", "pause", "resume")).isEqualTo("gone");
        assertThat(text(nodes().putStacks("one", bytes("frames")))).isEqualTo("gone");
        assertThat(text(nodes().stacks("one"))).isEqualTo("gone");
        report("two");
        assertThat(report("one")).as("it was cut off, and is removed by another node").isEmpty();
        assertThat(text(nodes().stacks("one"))).isEmpty();
    }

    /** A report removes 100 nodes that are gone at most. */
    @Test
    void aNodeThatIsBackKeepsNothingHoweverManyAreGone() {
        for (int i = 0; i < 100; i++) {
            report("gone%02d".formatted(i));
        }
        report("one");
        change("one", "", "pause");
        nodes().putStacks("one", bytes("frames")).join();
        this.dq.advance(NodeRegistry.MAX_AGE);
        assertThat(text(nodes().wanted("one"))).isEqualTo("pause");
        this.dq.advance(Duration.ofMillis(1));

        assertThat(report("one")).isEmpty();
        assertThat(text(nodes().wanted("one"))).isEmpty();
        assertThat(text(nodes().stacks("one"))).isEmpty();
    }

    @Test
    void aNodeReportsInTimeAndKeepsWhatIsWanted() {
        report("one");
        change("one", "", "pause");
        this.dq.advance(NodeRegistry.MAX_AGE);
        assertThat(report("one")).isEqualTo("pause");
    }

    @Test
    void aNodeThatStopsKeepsNothing() {
        report("one");
        change("one", "", "pause");
        nodes().putStacks("one", bytes("frames")).join();
        nodes().remove("one").join();

        assertThat(text(nodes().wanted("one"))).isEqualTo("gone");
        assertThat(report("one")).isEmpty();
        assertThat(text(nodes().stacks("one"))).isEmpty();
    }

    @Test
    void stacksAreReplacedAndRemovedByTheirNode() {
        report("one");
        assertThat(text(nodes().stacks("one"))).isEmpty();
        nodes().putStacks("one", bytes("frames")).join();
        nodes().putStacks("one", bytes("other frames")).join();
        assertThat(text(nodes().stacks("one"))).isEqualTo("other frames");
        assertThat(text(nodes().wanted("one"))).isEmpty();
        nodes().putStacks("one", new byte[0]).join();
        assertThat(text(nodes().stacks("one"))).isEmpty();
    }

}

package io.delayqueue.store.contract.inspect;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

import io.delayqueue.QueueName;
import io.delayqueue.fixtures.store.StoreCases;
import io.delayqueue.fixtures.store.StoreFixture;
import io.delayqueue.store.QueueRegistry;
import org.junit.jupiter.api.Test;

import static io.delayqueue.fixtures.store.StoreValues.at;
import static org.assertj.core.api.Assertions.assertThat;

/** The lists of the queues and of the nodes that there are. */
public abstract class QueueRegistryCases extends StoreCases {

    private final StoreFixture contract;

    public QueueRegistryCases(StoreFixture contract) {
        super(contract);
        this.contract = contract;
    }

    private QueueRegistry registry() {
        return this.contract.registry();
    }

    private List<String> listed(String after, int limit) {
        return registry().list(after, limit).join().stream().map(QueueName::value).toList();
    }

    @Test
    void listsQueuesByNameEachOnce() {
        assertThat(listed("", 10)).isEmpty();
        for (String name : List.of("b", "a", "B", "a", "a.1", "a-1")) {
            registry().add(new QueueName(name)).join();
        }

        assertThat(listed("", 10)).containsExactly("B", "a", "a-1", "a.1", "b");
        assertThat(listed("", 2)).containsExactly("B", "a");
        assertThat(listed("a", 2)).containsExactly("a-1", "a.1");
        assertThat(listed("a0", 10)).containsExactly("b");
    }

    private List<String> nodes() {
        return this.contract.nodes()
            .list()
            .join()
            .stream()
            .map((report) -> "%s %s %s".formatted(report.node(), new String(report.content(), StandardCharsets.UTF_8),
                    report.at()))
            .toList();
    }

    private void report(String node, String content) {
        this.contract.nodes().report(node, content.getBytes(StandardCharsets.UTF_8)).join();
    }

    @Test
    void listsNodesThatReportedLately() {
        assertThat(nodes()).isEmpty();
        report("one", "first");
        this.dq.advance(Duration.ofSeconds(10));
        report("two", "hello");
        report("one", "second");
        assertThat(nodes()).containsExactlyInAnyOrder("one second " + at(10), "two hello " + at(10));

        this.dq.advance(Duration.ofSeconds(10));
        report("two", "hello");
        this.dq.advance(Duration.ofSeconds(10).plusMillis(1));
        assertThat(nodes()).containsExactly("two hello " + at(20));
        this.contract.nodes().remove("two").join();
        assertThat(nodes()).isEmpty();
    }

    @Test
    void forgetsWhatIsStruckOff() {
        registry().add(new QueueName("a")).join();

        assertThat(registry().remove(new QueueName("a")).join()).isTrue();
        assertThat(registry().remove(new QueueName("a")).join()).isFalse();
        assertThat(listed("", 10)).isEmpty();
    }

}

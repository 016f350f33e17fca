package io.delayqueue.engine;

import java.util.List;

import io.delayqueue.QueueName;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** The list of the queues that there are. */
abstract class DirectoryCases extends StoreCases {

    private final MessageStoreContract contract;

    DirectoryCases(MessageStoreContract contract) {
        super(contract);
        this.contract = contract;
    }

    private QueueDirectory directory() {
        return this.contract.directory();
    }

    private List<String> listed(String after, int limit) {
        return directory().list(after, limit).join().stream().map(QueueName::value).toList();
    }

    @Test
    void listsQueuesByNameEachOnce() {
        assertThat(listed("", 10)).isEmpty();
        for (String name : List.of("b", "a", "B", "a", "a.1", "a-1")) {
            directory().add(new QueueName(name)).join();
        }

        assertThat(listed("", 10)).containsExactly("B", "a", "a-1", "a.1", "b");
        assertThat(listed("", 2)).containsExactly("B", "a");
        assertThat(listed("a", 2)).containsExactly("a-1", "a.1");
        assertThat(listed("a0", 10)).containsExactly("b");
    }

    @Test
    void forgetsWhatIsStruckOff() {
        directory().add(new QueueName("a")).join();

        assertThat(directory().remove(new QueueName("a")).join()).isTrue();
        assertThat(directory().remove(new QueueName("a")).join()).isFalse();
        assertThat(listed("", 10)).isEmpty();
    }

}

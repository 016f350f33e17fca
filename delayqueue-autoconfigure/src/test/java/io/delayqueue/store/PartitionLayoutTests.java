package io.delayqueue.store;

import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;

import io.delayqueue.QueueName;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** P8, P10: an id has the same home in every process and version, or it would be lost. */
class PartitionLayoutTests {

    private static final QueueName QUEUE = new QueueName("orders");

    private static List<Integer> indexes(int count, String... keys) {
        return List.of(keys).stream().map((key) -> PartitionLayout.indexOf(key, count)).toList();
    }

    @Test
    void partitionsOfIdsNeverChange() {
        String[] keys = { "a", "b", "order-1", "order-2", "order-42", "K72Nz1agWx2mVS2M" };

        assertThat(indexes(4, keys)).containsExactly(1, 2, 3, 1, 2, 1);
        assertThat(indexes(256, keys)).containsExactly(84, 37, 95, 202, 16, 144);
    }

    @Test
    void growingMovesFewAndOnlyToNewPartitions() {
        long moved = IntStream.range(0, 10_000).filter((number) -> {
            int before = PartitionLayout.indexOf("order-" + number, 4);
            int after = PartitionLayout.indexOf("order-" + number, 5);
            assertThat(after).isIn(before, 4);
            return before != after;
        }).count();

        assertThat(moved).isBetween(1_800L, 2_200L);
    }

    @Test
    void partitionsGetAboutTheSame() {
        int[] counts = new int[16];
        IntStream.range(0, 16_000).forEach((number) -> counts[PartitionLayout.indexOf("order-" + number, 16)]++);

        assertThat(IntStream.of(counts)).allMatch((count) -> count > 850 && count < 1150);
    }

    @Test
    void theTextIsWhatIsRecorded() {
        PartitionLayout partitions = new PartitionLayout(3, List.of(1, 4), true);

        assertThat(partitions.text()).isEqualTo("3|1,4");
        assertThat(PartitionLayout.parse("3|1,4")).isEqualTo(partitions);
        assertThat(PartitionLayout.parse("4|4,1+")).isEqualTo(partitions.next(1));
        assertThat(partitions.next(1).text()).isEqualTo("4|4,1+");
        PartitionLayout paused = partitions.paused(new Pause(Instant.ofEpochMilli(1_790_000_000_000L)));
        assertThat(paused.text()).isEqualTo("4|1,4p1790000000000+");
        assertThat(PartitionLayout.parse("4|1,4p1790000000000+")).isEqualTo(paused);
        assertThat(paused.next(1).completed().text()).isEqualTo("5|4,1p1790000000000");
        assertThat(partitions.paused(new Pause(null)).text()).isEqualTo("4|1,4p+");
        assertThat(PartitionLayout.parse("4|1,4p").pause()).isEqualTo(new Pause(null));
        assertThatIllegalArgumentException().isThrownBy(() -> PartitionLayout.parse("many"));
        assertThatIllegalArgumentException().isThrownBy(() -> PartitionLayout.parse("1|257"));
        assertThatIllegalArgumentException().isThrownBy(() -> PartitionLayout.parse("1|4,4"));
        assertThatIllegalArgumentException().isThrownBy(() -> PartitionLayout.parse("1|1" + ",1".repeat(100_000)));
    }

    @Test
    void thePartitionsOfAnIdBeginWithTheCurrentOne() {
        PartitionLayout partitions = new PartitionLayout(3, List.of(1, 4, 256), true);

        assertThat(partitions.targets(QUEUE, "order-42")).containsExactly(
                new PartitionTarget(new Partition(QUEUE, PartitionLayout.indexOf("order-42", 256)), 3),
                new PartitionTarget(new Partition(QUEUE, PartitionLayout.indexOf("order-42", 4)), 3),
                new PartitionTarget(new Partition(QUEUE, 0), 3));
        assertThat(partitions.target(QUEUE, "order-42")).isEqualTo(partitions.targets(QUEUE, "order-42").get(0));
        assertThat(partitions.next(2).all(QUEUE)).hasSize(256);
    }

    @Test
    void aNinthNumberIsRefused() {
        PartitionLayout partitions = PartitionLayout.ONE;
        for (int count = 2; count <= PartitionLayout.MAX_COUNTS; count++) {
            partitions = partitions.next(count);
        }
        PartitionLayout full = partitions;

        assertThatIllegalArgumentException().isThrownBy(() -> full.next(9))
            .withMessageContaining("one number too many");
        assertThat(full.next(1).count()).isOne();
        assertThatIllegalArgumentException().isThrownBy(() -> full.next(0));
        assertThatIllegalArgumentException().isThrownBy(() -> full.next(257));
    }

    @Test
    void aLaterVersionKeepsTheEarlierCounts() {
        PartitionLayout founded = new PartitionLayout(1, List.of(4), true);

        assertThat(founded.after(PartitionLayout.ONE)).isEqualTo(new PartitionLayout(1, List.of(1, 4), true));
        assertThat(founded.after(founded)).isEqualTo(founded);
    }

    @Test
    void occurrencesOfSchedulesAreInTheFirstPartition() {
        PartitionLayout layout = new PartitionLayout(3, List.of(1, 8, 256), true);
        QueueName queue = new QueueName("q");

        for (int i = 0; i < 1_000; i++) {
            assertThat(layout.targets(queue, "@s@" + i))
                .containsExactly(new PartitionTarget(Partition.first(queue), 3));
        }
    }

}

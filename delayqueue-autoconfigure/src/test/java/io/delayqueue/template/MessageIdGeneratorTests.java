package io.delayqueue.template;

import java.util.HashSet;
import java.util.Set;
import java.util.function.Supplier;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Generated ids are distinct, also those of a batch, within and across its blocks. */
class MessageIdGeneratorTests {

    private static final int MANY = 1000;

    private final MessageIdGenerator ids = new MessageIdGenerator();

    @Test
    void idsOfBatchesAndSingleIdsDiffer() {
        Set<String> all = new HashSet<>();
        Supplier<String> one = this.ids.batch(MANY);
        Supplier<String> other = this.ids.batch(MANY);
        for (int i = 0; i < MANY; i++) {
            all.add(one.get());
            all.add(other.get());
            all.add(this.ids.next());
        }

        assertThat(all).hasSize(3 * MANY).allMatch((id) -> id.matches("[A-Za-z0-9_-]{16}"));
    }

    @Test
    void aBatchHasMoreIdsThanExpected() {
        Supplier<String> batch = this.ids.batch(0);

        assertThat(Set.of(batch.get(), batch.get(), batch.get())).hasSize(3);
    }

    @Test
    void allBitsOfAnIdAreRandom() {
        Supplier<String> batch = this.ids.batch(MANY);
        for (int position = 0; position < 16; position++) {
            Set<Character> found = new HashSet<>();
            for (int i = 0; i < MANY; i++) {
                found.add(batch.get().charAt(position));
            }
            assertThat(found).hasSizeGreaterThan(50);
        }
    }

}

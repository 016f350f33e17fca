package io.delayqueue.template;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Generated ids are distinct, also those of a batch, within and across its blocks, and
 * those of about the same time begin with the same characters.
 */
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
    void allBitsAfterTheTimeAreRandom() {
        Supplier<String> batch = this.ids.batch(MANY);
        for (int position = 4; position < 16; position++) {
            Set<Character> found = new HashSet<>();
            for (int i = 0; i < MANY; i++) {
                found.add(batch.get().charAt(position));
            }
            assertThat(found).hasSizeGreaterThan(50);
        }
    }

    @Test
    void idsOfTheSameTimeAreNearOneAnotherInAnIndex() {
        AtomicLong nanoTime = new AtomicLong();
        MessageIdGenerator generator = new MessageIdGenerator(nanoTime::get);

        Set<String> beginnings = new HashSet<>();
        Supplier<String> batch = generator.batch(2);
        for (String id : List.of(generator.next(), generator.next(), batch.get(), batch.get())) {
            beginnings.add(id.substring(0, 4));
        }
        assertThat(beginnings).containsExactly("AAAA");

        nanoTime.set((1L << 24) - 1);
        assertThat(generator.next()).startsWith("AAAA");
        nanoTime.set(1L << 24);
        assertThat(generator.next()).startsWith("AAAB");
        nanoTime.set(1L << 32);
        assertThat(generator.next()).startsWith("AAEA");
        nanoTime.set(1L << 40);
        assertThat(generator.next()).startsWith("AQAA");
        nanoTime.set(-1);
        assertThat(generator.next()).startsWith("____");
        nanoTime.set(1L << 48);
        assertThat(generator.next()).startsWith("AAAA");
    }

}

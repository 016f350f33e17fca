package io.delayqueue.store;

import java.util.Random;

import io.delayqueue.fixtures.ManualClock;
import io.delayqueue.fixtures.model.Conformance;
import io.delayqueue.memory.InMemoryMessageStore;
import io.delayqueue.store.envelope.EnvelopeCodec;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The model says what the store in memory does: all short ways, and long ones at random.
 */
class ModelConformanceTests {

    private static final int DEPTH = 4;

    private static final int LONG_WALKS = 150;

    private final EnvelopeCodec codec = new EnvelopeCodec(JsonMapper.builder().build());

    @Test
    void answersAsTheStoreDoesOnEveryShortWay() {
        int[] steps = new int[DEPTH];
        int ways = 0;
        while (steps[0] < 6) {
            boolean possible = conformance(0).take(steps);
            ways += possible ? 1 : 0;
            int at = DEPTH - 1;
            steps[at] = possible ? steps[at] + 1 : Integer.MAX_VALUE;
            at = carry(steps, at);
        }
        System.out.println(ways + " ways of " + DEPTH + " steps");
        assertThat(ways).isGreaterThan(1_000);
    }

    /** Starts again after a state without further steps. */
    private static int carry(int[] steps, int last) {
        int at = last;
        while (at > 0 && steps[at] > 20) {
            steps[at] = 0;
            at--;
            steps[at]++;
        }
        return at;
    }

    @Test
    void answersAsTheStoreDoesOnLongWays() {
        long seed = Long.getLong("dq.seed", System.nanoTime());
        System.out.println("Ways of the model with -Ddq.seed=" + seed);
        Random random = new Random(seed);
        for (int walk = 0; walk < LONG_WALKS; walk++) {
            conformance(walk).walk(random, 60, false);
        }
    }

    private Conformance conformance(int walk) {
        ManualClock clock = new ManualClock();
        InMemoryMessageStore store = new InMemoryMessageStore(this.codec, clock);
        return new Conformance(store, store, clock, (twice) -> {
        }, walk);
    }

}

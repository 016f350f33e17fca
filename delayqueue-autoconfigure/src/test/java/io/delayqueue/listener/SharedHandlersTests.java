package io.delayqueue.listener;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** P3: a loop that shares its handlers with others does not wait for ever. */
class SharedHandlersTests {

    private final TestBed bed = new TestBed();

    @Test
    void aLoopGetsInLineWhileOthersHaveAllTheRoom() {
        Alarm other = new Alarm();
        AtomicReference<Handlers> shared = new AtomicReference<>();
        WorkerContext context = new WorkerContext(this.bed.store, (event) -> {
        }, (task) -> {
            task.run();
            // The handler has finished, and another loop takes its place at once.
            shared.get().reserve(1, other);
        }, this.bed.timer, this.bed.context.outage(), TestBed.PARTITIONS, null, this.bed.context.settings(),
                this.bed.clock);
        shared.set(new Handlers(2, context.handlerThreads(), this.bed.clock));
        shared.get().join();
        assertThat(shared.get().reserve(1, other)).isOne();
        PollLoop loop = new PollLoop(this.bed.queue(), context, shared.get());
        this.bed.store.add("first", Duration.ZERO);
        this.bed.store.add("second", Duration.ZERO);

        assertThat(loop.pollOnce()).isZero();
        assertThat(loop.pollOnce()).isPositive();
        shared.get().giveBack(1);

        assertThat(shared.get().reserve(1, other)).as("the place of the loop").isZero();
        loop.pollOnce();
        assertThat(this.bed.handled).containsExactly("first", "second");
    }

}

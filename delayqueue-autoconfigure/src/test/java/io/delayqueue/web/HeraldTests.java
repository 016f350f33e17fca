package io.delayqueue.web;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;

import io.delayqueue.AuditedOperationEvent;
import io.delayqueue.DeadLetterEvent;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Listeners hear of all there is in its order, and hold up nobody but each other. */
class HeraldTests {

    private final List<Object> told = new CopyOnWriteArrayList<>();

    @Test
    void tellsInOrderOnAThreadOfItsOwnAndAllOfItBeforeItEnds() {
        List<String> threads = new CopyOnWriteArrayList<>();
        Herald herald = new Herald((event) -> {
            this.told.add(event);
            threads.add(Thread.currentThread().getName());
        });
        herald.start();
        List<AuditedOperationEvent> events = IntStream.range(0, 100).mapToObj(HeraldTests::event).toList();

        events.forEach(herald::tell);
        herald.stop();

        assertThat(this.told).containsExactlyElementsOf(events);
        assertThat(threads).containsOnly("delayqueue-web-audit");
        assertThat(herald.isRunning()).isFalse();
    }

    @Test
    void aListenerThatHangsOrFailsHoldsUpNobody() throws Exception {
        CountDownLatch hanging = new CountDownLatch(1);
        CountDownLatch heard = new CountDownLatch(1);
        Herald herald = new Herald((event) -> {
            if (event instanceof DeadLetterEvent) {
                heard.countDown();
                throw new IllegalStateException("fails");
            }
            try {
                hanging.await();
            }
            catch (InterruptedException ex) {
                Thread.currentThread().interrupt();
            }
            this.told.add(event);
        }, 2);
        herald.start();

        // One is being told, two wait, and what comes on top is logged.
        IntStream.range(0, 10).mapToObj(HeraldTests::event).forEach(herald::tell);
        herald.tell(new DeadLetterEvent("q", "1", "1~1", 0, "why not"));
        heard.await();
        hanging.countDown();
        herald.stop();

        assertThat(this.told).containsExactly(event(0), event(1), event(2));
    }

    private static AuditedOperationEvent event(int number) {
        return new AuditedOperationEvent("ann", "acknowledge", "q", "m" + number, 1);
    }

}

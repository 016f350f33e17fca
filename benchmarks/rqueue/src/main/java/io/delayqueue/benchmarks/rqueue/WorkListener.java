package io.delayqueue.benchmarks.rqueue;

import java.util.function.Consumer;

import com.github.sonus21.rqueue.annotation.RqueueListener;
import io.delayqueue.benchmarks.contender.Work;

/** The handler, as in any application. */
final class WorkListener {

    private final Consumer<Work> handler;

    WorkListener(Consumer<Work> handler) {
        this.handler = handler;
    }

    @RqueueListener(value = "${bench.queues}", concurrency = "${bench.handlers}", batchSize = "${bench.batch}",
            visibilityTimeout = "${bench.visibility}")
    public void handle(Work work) {
        this.handler.accept(work);
    }

}

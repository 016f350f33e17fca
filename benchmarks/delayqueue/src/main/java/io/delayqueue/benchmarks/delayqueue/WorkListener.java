package io.delayqueue.benchmarks.delayqueue;

import java.util.List;
import java.util.function.Consumer;

import io.delayqueue.DelayedListener;
import io.delayqueue.benchmarks.contender.Work;

/** The handler, as in any application. */
final class WorkListener {

    static final String ID = "work";

    private final List<String> queues;

    private final Consumer<Work> handler;

    WorkListener(List<String> queues, Consumer<Work> handler) {
        this.queues = queues;
        this.handler = handler;
    }

    public List<String> getQueues() {
        return this.queues;
    }

    @DelayedListener(id = ID, queues = "#{@workListener.queues}", autoStartup = "false")
    void handle(Work work) {
        this.handler.accept(work);
    }

}

package io.delayqueue.benchmarks.delayqueue;

import io.delayqueue.benchmarks.contender.Agent;

/** Runs DelayQueue for the runner. */
final class DelayQueueBenchmark {

    private DelayQueueBenchmark() {
    }

    public static void main(String[] args) {
        Agent.run(new DelayQueueContender());
    }

}

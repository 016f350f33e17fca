package io.delayqueue.benchmarks.rqueue;

import io.delayqueue.benchmarks.contender.Agent;

/** Runs Rqueue for the runner. */
final class RqueueBenchmark {

    private RqueueBenchmark() {
    }

    public static void main(String[] args) {
        Agent.run(new RqueueContender());
    }

}

package io.delayqueue.benchmarks.limit;

import io.delayqueue.benchmarks.contender.Agent;

/** Runs the limit for the runner. */
final class LimitBenchmark {

    private LimitBenchmark() {
    }

    public static void main(String[] args) {
        Agent.run(new LimitContender());
    }

}

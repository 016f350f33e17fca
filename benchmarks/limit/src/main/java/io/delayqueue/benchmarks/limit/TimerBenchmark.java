package io.delayqueue.benchmarks.limit;

import io.delayqueue.benchmarks.contender.Agent;

/** Runs the bare timer for the runner. */
final class TimerBenchmark {

    private TimerBenchmark() {
    }

    public static void main(String[] args) {
        Agent.run(new TimerContender());
    }

}

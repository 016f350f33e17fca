package io.delayqueue.benchmarks.limit;

import io.delayqueue.benchmarks.contender.Agent;

/** Runs the limit through a blocking socket for the runner. */
final class SocketBenchmark {

    private SocketBenchmark() {
    }

    public static void main(String[] args) {
        Agent.run(new SocketContender());
    }

}

package io.delayqueue.benchmarks.namastack;

import io.delayqueue.benchmarks.contender.Agent;

/** Runs Namastack Outbox for the runner. */
final class NamastackBenchmark {

    private NamastackBenchmark() {
    }

    public static void main(String[] args) {
        Agent.run(new NamastackContender());
    }

}

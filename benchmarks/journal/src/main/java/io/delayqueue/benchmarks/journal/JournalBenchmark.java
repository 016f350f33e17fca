package io.delayqueue.benchmarks.journal;

import io.delayqueue.benchmarks.contender.Agent;

/** Runs DelayQueue with a journal for the runner. */
final class JournalBenchmark {

    private JournalBenchmark() {
    }

    public static void main(String[] args) {
        Agent.run(new JournalContender());
    }

}

package io.delayqueue.benchmarks.sql;

import io.delayqueue.benchmarks.contender.Agent;

/** Runs the limit of a journal for the runner. */
final class SqlBenchmark {

    private SqlBenchmark() {
    }

    public static void main(String[] args) {
        Agent.run(new SqlContender());
    }

}

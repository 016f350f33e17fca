package io.delayqueue.benchmarks.dbscheduler;

import io.delayqueue.benchmarks.contender.Agent;

/** Runs db-scheduler for the runner. */
final class DbSchedulerBenchmark {

    private DbSchedulerBenchmark() {
    }

    public static void main(String[] args) {
        Agent.run(new DbSchedulerContender());
    }

}

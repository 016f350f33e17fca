package io.delayqueue.benchmarks.redisson;

import io.delayqueue.benchmarks.contender.Agent;

/** Runs Redisson for the runner. */
final class RedissonBenchmark {

    private RedissonBenchmark() {
    }

    public static void main(String[] args) {
        Agent.run(new RedissonContender());
    }

}

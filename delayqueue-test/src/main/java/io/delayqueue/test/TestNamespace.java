package io.delayqueue.test;

/**
 * Removes all messages, dead letters and schedules of a test. Layouts of partitions and
 * modes of journals remain.
 *
 * @see DelayQueueTester
 */
public interface TestNamespace {

    /**
     * Removes all messages and dead letters, and the names of queues. Settings such as
     * the number of partitions remain.
     */
    void clear();

}

package io.delayqueue.test;

/** Empties the namespace of a test. */
public interface TestNamespace {

    /**
     * Removes all messages and dead letters, and the names of queues. Settings such as
     * the number of partitions remain.
     */
    void clear();

}

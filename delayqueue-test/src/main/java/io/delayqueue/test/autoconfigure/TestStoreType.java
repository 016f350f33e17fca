package io.delayqueue.test.autoconfigure;

/**
 * Names the store that a test uses.
 *
 * @see DelayQueueTest
 */
public enum TestStoreType {

    /** Messages are kept in this process. */
    MEMORY,

    /**
     * Messages are kept in Redis: the server that {@code spring.data.redis.*} or
     * Testcontainers name, or else an embedded one.
     */
    REDIS

}

package io.delayqueue.test;

/**
 * Asserts what a queue holds.
 *
 * @see DelayQueueTester#queue(String)
 */
public final class QueueAssert extends AbstractQueueAssert<QueueAssert> {

    QueueAssert(TestQueue actual) {
        super(actual, QueueAssert.class);
    }

}

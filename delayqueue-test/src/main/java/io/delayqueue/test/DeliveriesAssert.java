package io.delayqueue.test;

import org.assertj.core.api.AbstractAssert;

/**
 * Asserts what a call of the {@link DelayQueueTester} has brought about. Failures print
 * all deliveries of the call.
 */
public final class DeliveriesAssert extends AbstractAssert<DeliveriesAssert, Deliveries> {

    /** The number of deliveries that were asserted. */
    private int asserted;

    DeliveriesAssert(Deliveries actual) {
        super(actual, DeliveriesAssert.class);
    }

    /** Asserts how many messages were handled. */
    public DeliveriesAssert hasSucceeded(int count) {
        return has(DeliveryOutcome.SUCCEEDED, count);
    }

    /** Asserts how many attempts failed and are followed by another. */
    public DeliveriesAssert hasRetried(int count) {
        return has(DeliveryOutcome.RETRIED, count);
    }

    /** Asserts how many messages became dead letters. */
    public DeliveriesAssert hasDead(int count) {
        return has(DeliveryOutcome.DEAD, count);
    }

    /** Asserts how many deliveries were released. */
    public DeliveriesAssert hasReleased(int count) {
        return has(DeliveryOutcome.RELEASED, count);
    }

    /** Asserts how many messages were past their time to live. */
    public DeliveriesAssert hasExpired(int count) {
        return has(DeliveryOutcome.EXPIRED, count);
    }

    private DeliveriesAssert has(DeliveryOutcome outcome, int count) {
        isNotNull();
        int found = this.actual.count(outcome);
        if (found != count) {
            throw failureWithActualExpected(found, count, "Expected %d deliveries to be %s, but %d were:%n%s", count,
                    outcome, found, this.actual);
        }
        this.asserted += count;
        return this;
    }

    /** Asserts that there were no deliveries but those asserted before. */
    public DeliveriesAssert hasNoOthers() {
        isNotNull();
        if (this.actual.all().size() != this.asserted) {
            throw failureWithActualExpected(this.actual.all().size(), this.asserted,
                    "Expected %d deliveries in all, but there were %d:%n%s", this.asserted, this.actual.all().size(),
                    this.actual);
        }
        return this;
    }

    /** Asserts that nothing was delivered. */
    public DeliveriesAssert isEmpty() {
        isNotNull();
        if (!this.actual.isEmpty()) {
            throw failure("Expected no deliveries, but there were %d:%n%s", this.actual.all().size(), this.actual);
        }
        return this;
    }

}

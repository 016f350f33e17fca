package io.delayqueue.test;

import java.util.List;

import org.assertj.core.api.AssertProvider;

/**
 * Holds what a call of the {@link DelayQueueTester} has brought about, in the order in
 * which the messages were handed to listeners. A delivery that ended since the call
 * before is included.
 *
 * <pre class="code">
 * Deliveries deliveries = tester.advance(Duration.ofMinutes(30));
 * assertThat(deliveries).hasSucceeded(1).hasNoOthers();
 * </pre>
 *
 * @param all the deliveries
 */
public record Deliveries(List<TestDelivery> all) implements AssertProvider<DeliveriesAssert> {

    public Deliveries {
        all = List.copyOf(all);
    }

    /** Returns the number of messages that were handled. */
    public int succeeded() {
        return count(DeliveryOutcome.SUCCEEDED);
    }

    /** Returns the number of attempts that failed and are followed by another. */
    public int retried() {
        return count(DeliveryOutcome.RETRIED);
    }

    /** Returns the number of messages that became dead letters. */
    public int dead() {
        return count(DeliveryOutcome.DEAD);
    }

    /** Returns the number of deliveries that were released. */
    public int released() {
        return count(DeliveryOutcome.RELEASED);
    }

    /** Returns the number of messages that were past their time to live. */
    public int expired() {
        return count(DeliveryOutcome.EXPIRED);
    }

    int count(DeliveryOutcome outcome) {
        return (int) this.all.stream().filter((delivery) -> delivery.outcome() == outcome).count();
    }

    /** Returns whether nothing was delivered. */
    public boolean isEmpty() {
        return this.all.isEmpty();
    }

    /** Returns the deliveries of one queue. */
    public Deliveries of(String queue) {
        return new Deliveries(this.all.stream().filter((delivery) -> delivery.queue().equals(queue)).toList());
    }

    @Override
    public DeliveriesAssert assertThat() {
        return new DeliveriesAssert(this);
    }

    /** Returns a table of the deliveries. */
    @Override
    public String toString() {
        if (this.all.isEmpty()) {
            return "no deliveries";
        }
        TextTable table = new TextTable(List.of("at", "queue", "id", "attempt", "outcome", "cause"));
        for (TestDelivery delivery : this.all) {
            String id = (delivery.id() != null) ? delivery.id() : "(dropped)";
            String cause = (delivery.cause() != null) ? delivery.cause() : "";
            table.add(List.of(delivery.at().toString(), delivery.queue(), id, Integer.toString(delivery.attempt()),
                    delivery.outcome().toString(), cause));
        }
        return table.toString();
    }

}

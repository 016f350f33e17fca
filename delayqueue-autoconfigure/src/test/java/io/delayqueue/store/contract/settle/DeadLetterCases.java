package io.delayqueue.store.contract.settle;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;

import io.delayqueue.DeadLetter;
import io.delayqueue.fixtures.store.ClaimValues;
import io.delayqueue.fixtures.store.StoreCases;
import io.delayqueue.fixtures.store.StoreFixture;
import io.delayqueue.fixtures.store.StoreValues;
import io.delayqueue.store.DeadLetterRequest;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.Lease;
import io.delayqueue.store.NewMessage;
import org.junit.jupiter.api.Test;

import static io.delayqueue.fixtures.store.StoreValues.DELAY;
import static io.delayqueue.fixtures.store.StoreValues.ID;
import static io.delayqueue.fixtures.store.StoreValues.LEASE;
import static io.delayqueue.fixtures.store.StoreValues.QUEUE;
import static io.delayqueue.fixtures.store.StoreValues.at;
import static io.delayqueue.fixtures.store.StoreValues.firstAttempt;
import static io.delayqueue.fixtures.store.StoreValues.held;
import static io.delayqueue.fixtures.store.StoreValues.deadLetterOf;
import static io.delayqueue.fixtures.store.StoreValues.neverGiven;
import static io.delayqueue.fixtures.store.StoreValues.waiting;
import static org.assertj.core.api.Assertions.assertThat;

/** Checks {@code deadLetter} in each state, and the content of dead letters. */
public abstract class DeadLetterCases extends StoreCases {

    public DeadLetterCases(StoreFixture contract) {
        super(contract);
    }

    @Test
    void isRefusedWhereTheQueueDoesNotHoldTheMessage() {
        assertThat(this.dq.deadLetter(neverGiven())).isFalse();

        assertThat(this.dq.deadLetters()).isEmpty();
    }

    @Test
    void isRefusedForAMessageThatWaits() {
        this.dq.scheduled();

        assertThat(this.dq.deadLetter(neverGiven())).isFalse();

        assertThat(this.dq.deadLetters()).isEmpty();
        assertThat(this.dq.find()).contains(waiting("first", at(10)));
    }

    @Test
    void isRefusedForAMessageThatIsDue() {
        this.dq.due();

        assertThat(this.dq.deadLetter(neverGiven())).isFalse();

        assertThat(this.dq.deadLetters()).isEmpty();
        assertThat(this.dq.claim()).isEqualTo(ClaimValues.of(firstAttempt("first", at(0))));
    }

    @Test
    void makesAMessageADeadLetter() {
        Lease lease = this.dq.leased();
        this.dq.advance(DELAY);

        assertThat(this.dq.deadLetter(lease)).isTrue();

        assertThat(this.dq.find()).isEmpty();
        assertThat(this.dq.deadLetters()).containsExactly(deadLetterOf(lease, at(10)));
    }

    @Test
    void isRefusedOnceTheMessageIsLeasedByAnother() {
        Lease stale = this.dq.leasedByAnother();

        assertThat(this.dq.deadLetter(stale)).isFalse();

        assertThat(this.dq.deadLetters()).isEmpty();
        assertThat(this.dq.find()).contains(held("first", at(60)));
    }

    @Test
    void makesALapsedMessageADeadLetter() {
        Lease lease = this.dq.lapsed();

        assertThat(this.dq.deadLetter(lease)).isTrue();

        assertThat(this.dq.deadLetters()).containsExactly(deadLetterOf(lease, at(30)));
    }

    @Test
    void isRefusedOnceTheLapseWasNoticed() {
        Lease stale = this.dq.noticed();

        assertThat(this.dq.deadLetter(stale)).isFalse();

        assertThat(this.dq.deadLetters()).isEmpty();
        assertThat(this.dq.find()).contains(waiting("first", at(30)));
    }

    @Test
    void beginsTheLifeOfASuccessor() {
        Lease lease = this.dq.withSuccessor();

        assertThat(this.dq.deadLetter(lease)).isTrue();

        assertThat(this.dq.deadLetters()).containsExactly(deadLetterOf(lease, at(0)));
        assertThat(this.dq.find()).contains(waiting("second", at(10)));
    }

    @Test
    void keepsADeadLetterOfACancelledMessage() {
        Lease lease = this.dq.cancelled();

        assertThat(this.dq.deadLetter(lease)).isTrue();

        assertThat(this.dq.deadLetters()).containsExactly(deadLetterOf(lease, at(0)));
        assertThat(this.dq.find()).isEmpty();
    }

    @Test
    void findsTheDeadLetterOfItsLease() {
        Lease lease = this.dq.dead();
        this.dq.advance(DELAY);

        assertThat(this.dq.deadLetter(lease)).isTrue();

        assertThat(this.dq.deadLetters()).containsExactly(deadLetterOf(lease, at(0)));
    }

    @Test
    void leavesOneDeadLetterWhenRepeated() {
        Lease lease = this.dq.leased();

        assertThat(this.dq.replay(() -> this.dq.deadLetter(lease))).isTrue();

        assertThat(this.dq.deadLetters()).containsExactly(deadLetterOf(lease, at(0)));
    }

    @Test
    void leavesOneDeadLetterWhenRepeatedWithASuccessor() {
        Lease lease = this.dq.withSuccessor();

        assertThat(this.dq.replay(() -> this.dq.deadLetter(lease))).isTrue();

        assertThat(this.dq.deadLetters()).containsExactly(deadLetterOf(lease, at(0)));
        assertThat(this.dq.find()).contains(waiting("second", at(10)));
    }

    /** By its name, with all that the list says of it. */
    @Test
    void canBeFoundAmongOthers() {
        Lease lease = this.dq.dead();
        this.dq.advance(DELAY);
        this.dq.send(StoreValues.keep("second", Duration.ZERO));
        Lease other = this.dq.claimOne();
        this.dq.deadLetter(other);

        assertThat(this.dq.findDeadLetter(lease.deadLetterId())).contains(deadLetterOf(lease, at(0)));
        assertThat(this.dq.findDeadLetter(other.deadLetterId())).contains(this.dq.deadLetters().get(0));
        assertThat(this.dq.findDeadLetter("other~1")).isEmpty();
        assertThat(this.dq.findDeadLetter(ID)).isEmpty();
    }

    @Test
    void keepsTheFirstFailureAndTheLast() {
        this.dq.retry(this.dq.leased(), Duration.ZERO, "first failure");
        Lease lease = this.dq.claimOne();

        this.dq.deadLetter(lease, new DeadLetterRequest("last failure", true, at(0)));

        assertThat(this.dq.deadLetters()).containsExactly(deadLetterOf(lease, at(0), "last failure", "first failure"));
    }

    @Test
    void keepsTheFirstFailureOfMany() {
        this.dq.retry(this.dq.leased(), Duration.ZERO, "first failure");
        this.dq.retry(this.dq.claimOne(), Duration.ZERO, "second failure");
        Lease lease = this.dq.claimOne();

        this.dq.deadLetter(lease, new DeadLetterRequest("last failure", true, at(0)));

        DeadLetter deadLetter = this.dq.deadLetters().get(0);
        assertThat(deadLetter.failures()).isEqualTo(3);
        assertThat(deadLetter.firstFailure()).isEqualTo("first failure");
    }

    @Test
    void keepsAFailureOnceIfTheLastIsTheFirst() {
        this.dq.retry(this.dq.leased(), Duration.ZERO, "failure: ü 1:2:3");
        Lease lease = this.dq.claimOne();

        this.dq.deadLetter(lease, new DeadLetterRequest("failure: ü 1:2:3", true, at(0)));

        DeadLetter deadLetter = this.dq.deadLetters().get(0);
        assertThat(deadLetter.cause()).isEqualTo("failure: ü 1:2:3");
        assertThat(deadLetter.firstFailure()).isNull();
    }

    @Test
    void countsNoFailureWhereTheHandlerHasNotFailed() {
        this.dq.lapsed();
        this.dq.start(this.dq.claimOne());
        this.dq.advance(LEASE);
        Lease lease = this.dq.claimOne();

        this.dq.deadLetter(lease, new DeadLetterRequest("lapses", false, at(60)));

        assertThat(this.dq.deadLetters()).containsExactly(new DeadLetter(QUEUE.queue().value(), lease.deadLetterId(),
                ID, null, at(60), at(60), 0, 1, "lapses", null, "\"first\"", Map.of()));
    }

    @Test
    void showsADeadLetterWhoseMessageIsNotReadable() {
        this.dq.send(NewMessage.of(ID, DueTime.NOW, "not JSON".getBytes(StandardCharsets.UTF_8)));
        Lease lease = this.dq.claimOne();

        this.dq.deadLetter(lease);

        assertThat(this.dq.deadLetters()).containsExactly(new DeadLetter(QUEUE.queue().value(), lease.deadLetterId(),
                ID, null, at(0), at(0), 1, 0, "failure", null, null, Map.of()));
    }

    @Test
    void keepsTheHeaders() {
        this.dq.send(NewMessage.of(ID, DueTime.NOW,
                "{\"v\":1,\"headers\":{\"h\":\"1\"},\"payload\":2}".getBytes(StandardCharsets.UTF_8)));
        Lease lease = this.dq.claimOne();

        this.dq.deadLetter(lease);

        assertThat(this.dq.deadLetters()).containsExactly(new DeadLetter(QUEUE.queue().value(), lease.deadLetterId(),
                ID, null, at(0), at(0), 1, 0, "failure", null, "2", Map.of("h", "1")));
    }

}

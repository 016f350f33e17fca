package io.delayqueue.store.contract.claim;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.delayqueue.DeadLetter;
import io.delayqueue.DeadLetterEvent;
import io.delayqueue.FailureReasons;
import io.delayqueue.MessageLimits;
import io.delayqueue.OnDuplicate;
import io.delayqueue.RedriveResult;
import io.delayqueue.SendOutcome;
import io.delayqueue.fixtures.store.ClaimValues;
import io.delayqueue.fixtures.store.ClaimedMessageValues;
import io.delayqueue.fixtures.store.GroupValues;
import io.delayqueue.fixtures.store.StoreCases;
import io.delayqueue.fixtures.store.StoreFixture;
import io.delayqueue.fixtures.store.StoreValues;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.Lease;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.NewMessage;
import org.junit.jupiter.api.Test;

import static io.delayqueue.fixtures.store.StoreValues.DELAY;
import static io.delayqueue.fixtures.store.StoreValues.ID;
import static io.delayqueue.fixtures.store.StoreValues.LEASE;
import static io.delayqueue.fixtures.store.StoreValues.QUEUE;
import static io.delayqueue.fixtures.store.StoreValues.at;
import static io.delayqueue.fixtures.store.StoreValues.called;
import static io.delayqueue.fixtures.store.StoreValues.expiring;
import static io.delayqueue.fixtures.store.StoreValues.firstAttempt;
import static io.delayqueue.fixtures.store.StoreValues.lease;
import static io.delayqueue.fixtures.store.StoreValues.result;
import static org.assertj.core.api.Assertions.assertThat;

/** Messages with a time to live. */
public abstract class ExpiryCases extends StoreCases {

    public ExpiryCases(StoreFixture contract) {
        super(contract);
    }

    @Test
    void leavesAMessageAloneUntilTheLastMillisecond() {
        this.dq.send(expiring(Duration.ZERO, DELAY));
        this.dq.advance(DELAY.minusMillis(1));

        assertThat(this.dq.claim().messages())
            .containsExactly(new ClaimedMessageValues(lease(at(39.999)), at(0), 0, 0, false, at(10), null, "first"));
    }

    @Test
    void dropsAMessageWhereThatWasAskedFor() {
        this.dq.send(expiring(Duration.ZERO, DELAY));
        this.dq.advance(DELAY);

        assertThat(this.dq.claim()).isEqualTo(new ClaimValues(List.of(), null, 1, List.of()));

        assertThat(this.dq.find()).isEmpty();
        assertThat(this.dq.deadLetters()).isEmpty();
    }

    @Test
    void keepsADeadLetterIfRequested() {
        this.dq.send(expiring(Duration.ZERO, DELAY));
        this.dq.advance(DELAY);

        assertThat(this.dq.claim(1, LEASE, ExpiryPolicy.DEAD_LETTER)).isEqualTo(new ClaimValues(List.of(), null, 1,
                List.of(new DeadLetterEvent(QUEUE.queue().value(), ID, lease(at(10)).deadLetterId(), 0, "expired"))));

        assertThat(this.dq.find()).isEmpty();
        assertThat(this.dq.deadLetters()).containsExactly(new DeadLetter(QUEUE.queue().value(),
                lease(at(10)).deadLetterId(), ID, null, at(0), at(10), 0, 0, "expired", null, "\"first\"", Map.of()));
    }

    @Test
    void countsFromTheDueTime() {
        this.dq.send(expiring(DELAY, DELAY));

        assertThat(this.dq.find()).contains(expiring(at(10), at(20), null));
        this.dq.advance(Duration.ofMillis(19_999));
        assertThat(this.dq.claim().ids()).containsExactly(ID);
    }

    @Test
    void countsFromTheDueTimeOfTheFirstAttempt() {
        this.dq.send(expiring(Duration.ZERO, DELAY));

        this.dq.retry(this.dq.claimOne());

        assertThat(this.dq.find()).contains(expiring(at(10), at(10), new FailureReasons("failure", "failure", at(0))));
        this.dq.advance(DELAY);
        assertThat(this.dq.claim()).isEqualTo(new ClaimValues(List.of(), null, 1, List.of()));
    }

    /** It cannot be handled any more, and must not keep its group and its id longer. */
    @Test
    void endsAtItsExpiryThoughItsRetryWouldBeLater() {
        for (boolean retried : new boolean[] { true, false }) {
            this.dq.send(new NewMessage("a", false, DueTime.NOW, OnDuplicate.KEEP, MessageLimits.NORMAL_PRIORITY, DELAY,
                    "g", StoreValues.envelope("a")));
            this.dq.send(GroupValues.grouped("g", "b", Duration.ofMillis(1)));
            Lease lease = this.dq.claimOne();
            if (retried) {
                this.dq.retry(lease, Duration.ofHours(1), "failure");
            }
            else {
                this.dq.release(lease, Duration.ofHours(1));
            }

            this.dq.advance(DELAY.minusMillis(1));
            assertThat(this.dq.claim().ids()).isEmpty();
            this.dq.advance(Duration.ofMillis(1));
            assertThat(this.dq.drained()).containsExactly("b");
            assertThat(this.dq.find("a")).isEmpty();
        }
    }

    @Test
    void movesWithAReschedule() {
        this.dq.send(expiring(DELAY, DELAY));

        this.dq.reschedule(LEASE);

        assertThat(this.dq.find()).contains(expiring(at(30), at(40), null));
    }

    @Test
    void movesWithARescheduleOfARetry() {
        this.dq.send(expiring(Duration.ZERO, DELAY));
        this.dq.retry(this.dq.claimOne());

        this.dq.reschedule(LEASE);

        assertThat(this.dq.find()).contains(expiring(at(30), at(40), new FailureReasons("failure", "failure", at(0))));
    }

    @Test
    void restartsWithARedrive() {
        this.dq.send(expiring(Duration.ZERO, DELAY));
        Lease lease = this.dq.claimOne();
        this.dq.deadLetter(lease);
        this.dq.advance(LEASE);

        this.dq.redrive(lease);

        assertThat(this.dq.find()).contains(expiring(at(30), at(40), null));
    }

    @Test
    void restartsWithARedriveOfAnExpiredMessage() {
        this.dq.send(expiring(DELAY, Duration.ofSeconds(1)));
        this.dq.advance(LEASE);
        this.dq.claim(1, LEASE, ExpiryPolicy.DEAD_LETTER);

        assertThat(this.dq.redrive(lease(at(30)))).isEqualTo(RedriveResult.REDRIVEN);

        assertThat(this.dq.find()).contains(expiring(at(30), at(31), null));
    }

    @Test
    void appliesToALapsedMessage() {
        this.dq.send(expiring(Duration.ZERO, DELAY));
        this.dq.claim();
        this.dq.advance(LEASE);

        assertThat(this.dq.find()).contains(expiring(at(0), at(10), null));
        assertThat(this.dq.claim()).isEqualTo(new ClaimValues(List.of(), null, 1, List.of()));
    }

    @Test
    void takesASuccessorToo() {
        Lease lease = this.dq.leased();
        assertThat(this.dq.send(expiring(Duration.ZERO, DELAY))).isEqualTo(result(SendOutcome.AFTER_CURRENT, at(0)));
        this.dq.acknowledge(lease);

        assertThat(this.dq.find()).contains(expiring(at(0), at(10), null));
        this.dq.advance(DELAY);
        assertThat(this.dq.claim()).isEqualTo(new ClaimValues(List.of(), null, 1, List.of()));
    }

    @Test
    void leavesALeasedMessageToItsHolder() {
        this.dq.send(expiring(Duration.ZERO, DELAY));
        Lease lease = this.dq.claimOne();
        this.dq.advance(DELAY);

        assertThat(this.dq.claim()).isEqualTo(ClaimValues.nothing(at(30)));

        assertThat(this.dq.acknowledge(lease)).isTrue();
    }

    @Test
    void doesNotCountAmongTheMessagesThatWereAskedFor() {
        this.dq
            .sendAll(List.of(expiring(Duration.ZERO, DELAY), called("b", Duration.ZERO), called("c", Duration.ZERO)));
        this.dq.advance(DELAY);

        ClaimValues claim = this.dq.claim(1, LEASE, ExpiryPolicy.DROP);

        assertThat(claim.expired()).isEqualTo(1);
        assertThat(claim.ids()).containsExactly("b");
        assertThat(claim.nextAt()).isEqualTo(at(0));
    }

    @Test
    void isFoundAHundredAtATime() {
        for (int i = 0; i < 3; i++) {
            int batch = i;
            this.dq.sendAll(IntStream.range(0, MessageStore.BATCH_LIMIT)
                .mapToObj((each) -> StoreValues.expiring("m" + batch + "-" + each, DELAY))
                .toList());
        }
        this.dq.send(called("other", Duration.ofSeconds(5)));
        this.dq.advance(DELAY);

        List<ClaimValues> claims = Stream.generate(() -> this.dq.claim(10, LEASE, ExpiryPolicy.DROP)).limit(4).toList();

        assertThat(claims).extracting(ClaimValues::expired).containsExactly(100, 100, 100, 0);
        assertThat(claims).flatExtracting(ClaimValues::ids).containsExactly("other");
    }

    @Test
    void isForgottenWithTheMessage() {
        this.dq.send(expiring(Duration.ZERO, DELAY));
        this.dq.acknowledge(this.dq.claimOne());

        this.dq.due();

        assertThat(this.dq.claim()).isEqualTo(ClaimValues.of(firstAttempt("first", at(0))));
    }

}

package io.delayqueue.store;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.delayqueue.DeadLetter;
import io.delayqueue.DeadLetterEvent;
import io.delayqueue.RedriveResult;
import io.delayqueue.SendOutcome;
import org.junit.jupiter.api.Test;

import static io.delayqueue.store.StoreValues.DELAY;
import static io.delayqueue.store.StoreValues.ID;
import static io.delayqueue.store.StoreValues.LEASE;
import static io.delayqueue.store.StoreValues.QUEUE;
import static io.delayqueue.store.StoreValues.at;
import static io.delayqueue.store.StoreValues.called;
import static io.delayqueue.store.StoreValues.expiring;
import static io.delayqueue.store.StoreValues.firstAttempt;
import static io.delayqueue.store.StoreValues.lease;
import static io.delayqueue.store.StoreValues.result;
import static org.assertj.core.api.Assertions.assertThat;

/** Messages with a time to live. */
abstract class ExpiryCases extends StoreCases {

    ExpiryCases(MessageStoreContract contract) {
        super(contract);
    }

    @Test
    void leavesAMessageAloneUntilTheLastMillisecond() {
        this.dq.send(expiring(Duration.ZERO, DELAY));
        this.dq.advance(DELAY.minusMillis(1));

        assertThat(this.dq.claim().messages())
            .containsExactly(new Taken(lease(at(39.999)), at(0), 0, 0, false, at(10), null, "first"));
    }

    @Test
    void dropsAMessageWhereThatWasAskedFor() {
        this.dq.send(expiring(Duration.ZERO, DELAY));
        this.dq.advance(DELAY);

        assertThat(this.dq.claim()).isEqualTo(new Claimed(List.of(), null, 1, List.of()));

        assertThat(this.dq.find()).isEmpty();
        assertThat(this.dq.letters()).isEmpty();
    }

    @Test
    void keepsADeadLetterWhereThatWasAskedFor() {
        this.dq.send(expiring(Duration.ZERO, DELAY));
        this.dq.advance(DELAY);

        assertThat(this.dq.claim(1, LEASE, ExpiryPolicy.DEAD_LETTER)).isEqualTo(new Claimed(List.of(), null, 1,
                List.of(new DeadLetterEvent(QUEUE.queue().value(), ID, lease(at(10)).letterId(), 0, "expired"))));

        assertThat(this.dq.find()).isEmpty();
        assertThat(this.dq.letters()).containsExactly(new DeadLetter(QUEUE.queue().value(), lease(at(10)).letterId(),
                ID, null, at(0), at(10), 0, 0, "expired", null, "\"first\"", Map.of()));
    }

    @Test
    void countsFromTheDueTime() {
        this.dq.send(expiring(DELAY, DELAY));

        assertThat(this.dq.find()).contains(expiring(at(10), at(20), 0));
        this.dq.advance(Duration.ofMillis(19_999));
        assertThat(this.dq.claim().ids()).containsExactly(ID);
    }

    @Test
    void countsFromTheDueTimeOfTheFirstAttempt() {
        this.dq.send(expiring(Duration.ZERO, DELAY));

        this.dq.retry(this.dq.claimOne());

        assertThat(this.dq.find()).contains(expiring(at(10), at(10), 1));
        this.dq.advance(DELAY);
        assertThat(this.dq.claim()).isEqualTo(new Claimed(List.of(), null, 1, List.of()));
    }

    @Test
    void movesWithAReschedule() {
        this.dq.send(expiring(DELAY, DELAY));

        this.dq.reschedule(LEASE);

        assertThat(this.dq.find()).contains(expiring(at(30), at(40), 0));
    }

    @Test
    void movesWithARescheduleOfARetry() {
        this.dq.send(expiring(Duration.ZERO, DELAY));
        this.dq.retry(this.dq.claimOne());

        this.dq.reschedule(LEASE);

        assertThat(this.dq.find()).contains(expiring(at(30), at(40), 1));
    }

    @Test
    void beginsAnewWithARedrive() {
        this.dq.send(expiring(Duration.ZERO, DELAY));
        Lease lease = this.dq.claimOne();
        this.dq.deadLetter(lease);
        this.dq.advance(LEASE);

        this.dq.redrive(lease);

        assertThat(this.dq.find()).contains(expiring(at(30), at(40), 0));
    }

    @Test
    void beginsAnewWithARedriveOfWhatExpired() {
        this.dq.send(expiring(DELAY, Duration.ofSeconds(1)));
        this.dq.advance(LEASE);
        this.dq.claim(1, LEASE, ExpiryPolicy.DEAD_LETTER);

        assertThat(this.dq.redrive(lease(at(30)))).isEqualTo(RedriveResult.REDRIVEN);

        assertThat(this.dq.find()).contains(expiring(at(30), at(31), 0));
    }

    @Test
    void takesAMessageWhoseLeaseRanOutToo() {
        this.dq.send(expiring(Duration.ZERO, DELAY));
        this.dq.claim();
        this.dq.advance(LEASE);

        assertThat(this.dq.find()).contains(expiring(at(0), at(10), 0));
        assertThat(this.dq.claim()).isEqualTo(new Claimed(List.of(), null, 1, List.of()));
    }

    @Test
    void takesASuccessorToo() {
        Lease lease = this.dq.leased();
        assertThat(this.dq.send(expiring(Duration.ZERO, DELAY))).isEqualTo(result(SendOutcome.AFTER_CURRENT, at(0)));
        this.dq.acknowledge(lease);

        assertThat(this.dq.find()).contains(expiring(at(0), at(10), 0));
        this.dq.advance(DELAY);
        assertThat(this.dq.claim()).isEqualTo(new Claimed(List.of(), null, 1, List.of()));
    }

    @Test
    void leavesALeasedMessageToItsHolder() {
        this.dq.send(expiring(Duration.ZERO, DELAY));
        Lease lease = this.dq.claimOne();
        this.dq.advance(DELAY);

        assertThat(this.dq.claim()).isEqualTo(Claimed.nothing(at(30)));

        assertThat(this.dq.acknowledge(lease)).isTrue();
    }

    @Test
    void doesNotCountAmongTheMessagesThatWereAskedFor() {
        this.dq
            .sendAll(List.of(expiring(Duration.ZERO, DELAY), called("b", Duration.ZERO), called("c", Duration.ZERO)));
        this.dq.advance(DELAY);

        Claimed claim = this.dq.claim(1, LEASE, ExpiryPolicy.DROP);

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

        List<Claimed> claims = Stream.generate(() -> this.dq.claim(10, LEASE, ExpiryPolicy.DROP)).limit(4).toList();

        assertThat(claims).extracting(Claimed::expired).containsExactly(100, 100, 100, 0);
        assertThat(claims).flatExtracting(Claimed::ids).containsExactly("other");
    }

    @Test
    void isForgottenWithTheMessage() {
        this.dq.send(expiring(Duration.ZERO, DELAY));
        this.dq.acknowledge(this.dq.claimOne());

        this.dq.due();

        assertThat(this.dq.claim()).isEqualTo(Claimed.of(firstAttempt("first", at(0))));
    }

}

package io.delayqueue.store.contract.settle;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import io.delayqueue.DeadLetter;
import io.delayqueue.DeadLetterPage;
import io.delayqueue.QueueStatistics;
import io.delayqueue.fixtures.store.StoreCases;
import io.delayqueue.fixtures.store.StoreFixture;
import io.delayqueue.store.Lease;
import io.delayqueue.store.NewMessage;
import org.junit.jupiter.api.Test;

import static io.delayqueue.fixtures.store.StoreValues.DELAY;
import static io.delayqueue.fixtures.store.StoreValues.QUEUE;
import static io.delayqueue.fixtures.store.StoreValues.at;
import static io.delayqueue.fixtures.store.StoreValues.called;
import static io.delayqueue.fixtures.store.StoreValues.keep;
import static io.delayqueue.fixtures.store.StoreValues.neverGiven;
import static io.delayqueue.fixtures.store.StoreValues.waiting;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** {@code purge}, in each state, and the pages of dead letters. */
public abstract class PurgeCases extends StoreCases {

    public PurgeCases(StoreFixture contract) {
        super(contract);
    }

    @Test
    void findsNoUnknownDeadLetter() {
        assertThat(this.dq.purge(neverGiven())).isFalse();
        assertThat(this.dq.purgeOlderThan(Duration.ZERO)).isZero();
    }

    @Test
    void leavesMessagesAlone() {
        this.dq.scheduled();
        this.dq.send(called("b", Duration.ZERO));
        Lease lease = this.dq.claimOne();

        assertThat(this.dq.purge(neverGiven())).isFalse();
        assertThat(this.dq.purge(lease)).isFalse();
        assertThat(this.dq.purgeOlderThan(Duration.ZERO)).isZero();

        assertThat(this.dq.statistics()).isEqualTo(new QueueStatistics(QUEUE.queue().value(), 1, 0, 1, 0, at(10)));
    }

    @Test
    void leavesALeaseThatRanOutToOthers() {
        Lease lease = this.dq.lapsed();

        assertThat(this.dq.purge(lease)).isFalse();

        assertThat(this.dq.acknowledge(lease)).isTrue();
    }

    @Test
    void removesADeadLetter() {
        Lease dead = this.dq.dead();

        assertThat(this.dq.purge(dead)).isTrue();

        assertThat(this.dq.deadLetters()).isEmpty();
    }

    @Test
    void leavesALaterMessageOfTheIdAlone() {
        Lease dead = this.dq.dead();
        this.dq.send(keep("second", DELAY));

        assertThat(this.dq.purge(dead)).isTrue();

        assertThat(this.dq.find()).contains(waiting("second", at(10)));
    }

    @Test
    void findsNothingLeftWhenRepeated() {
        Lease dead = this.dq.dead();

        assertThat(this.dq.replay(() -> this.dq.purge(dead))).isFalse();

        assertThat(this.dq.deadLetters()).isEmpty();
    }

    @Test
    void removesDeadLettersOfThatAgeTheOldestFirst() {
        List<Lease> dead = deadOneByOne(4);
        this.dq.advance(DELAY);

        assertThat(this.dq.purgeOlderThan(Duration.ofSeconds(13))).isEqualTo(2);

        assertThat(this.dq.deadLetters()).extracting(DeadLetter::id)
            .containsExactly(dead.get(3).deadLetterId(), dead.get(2).deadLetterId());
    }

    /** Such as after a failover to a server whose clock is behind. */
    @Test
    void removesAllDeadLettersThoughTheClockWasSetBack() {
        this.dq.dead();
        this.dq.advance(DELAY.negated());

        assertThat(this.dq.purgeOlderThan(Duration.ofMillis(1))).isZero();
        assertThat(this.dq.purgeOlderThan(Duration.ZERO)).isEqualTo(1);

        assertThat(this.dq.deadLetters()).isEmpty();
    }

    @Test
    void removesAHundredDeadLettersAtATime() {
        List<NewMessage> messages = IntStream.range(0, 100).mapToObj((i) -> called("m" + i, Duration.ZERO)).toList();
        this.dq.sendAll(messages);
        this.dq.sendAll(List.of(called("x", Duration.ZERO)));
        for (int claim = 0; claim < 2; claim++) {
            this.dq.claim().leases().forEach(this.dq::deadLetter);
        }

        assertThat(this.dq.purgeOlderThan(Duration.ZERO)).isEqualTo(100);
        assertThat(this.dq.purgeOlderThan(Duration.ZERO)).isEqualTo(1);

        assertThat(this.dq.statistics()).isEqualTo(new QueueStatistics(QUEUE.queue().value(), 0, 0, 0, 0, null));
    }

    @Test
    void showsTheLatestDeadLetterFirstPageByPage() {
        List<String> dead = deadOneByOne(5).stream().map(Lease::deadLetterId).toList();

        DeadLetterPage first = this.dq.deadLetters(null, 2);
        DeadLetterPage second = this.dq.deadLetters(first.nextCursor(), 2);
        DeadLetterPage third = this.dq.deadLetters(second.nextCursor(), 2);

        assertThat(first.deadLetters()).extracting(DeadLetter::id).containsExactly(dead.get(4), dead.get(3));
        assertThat(second.deadLetters()).extracting(DeadLetter::id).containsExactly(dead.get(2), dead.get(1));
        assertThat(third.deadLetters()).extracting(DeadLetter::id).containsExactly(dead.get(0));
        assertThat(third.nextCursor()).isNull();
    }

    @Test
    void showsDeadLettersOfOneMillisecondInTheOrderOfTheirIds() {
        this.dq.sendAll(List.of(called("x", Duration.ZERO), called("z", Duration.ZERO), called("y", Duration.ZERO)));
        this.dq.claim().leases().forEach(this.dq::deadLetter);

        DeadLetterPage first = this.dq.deadLetters(null, 1);
        DeadLetterPage others = this.dq.deadLetters(first.nextCursor(), 3);

        assertThat(first.deadLetters()).extracting(DeadLetter::messageId).containsExactly("z");
        assertThat(others.deadLetters()).extracting(DeadLetter::messageId).containsExactly("y", "x");
    }

    @Test
    void goesOnWithTheNextPageThoughItsCursorIsGone() {
        List<Lease> dead = deadOneByOne(4);
        DeadLetterPage first = this.dq.deadLetters(null, 2);
        this.dq.purge(dead.get(2));

        DeadLetterPage second = this.dq.deadLetters(first.nextCursor(), 2);

        assertThat(second.deadLetters()).extracting(DeadLetter::id)
            .containsExactly(dead.get(1).deadLetterId(), dead.get(0).deadLetterId());
    }

    @Test
    void continuesAfterADeadLetterOfAnotherPartition() {
        this.dq.sendAll(List.of(called("x", Duration.ZERO), called("z", Duration.ZERO), called("y", Duration.ZERO)));
        List<Lease> leases = this.dq.claim().leases();
        leases.forEach(this.dq::deadLetter);
        long died = this.dq.deadLetters().get(0).deadLetteredAt().toEpochMilli();

        assertThat(behind(died, "~~1")).containsExactly("z", "y", "x");
        assertThat(behind(died, "z~0")).containsExactly("y", "x");
        assertThat(behind(died, "a~1")).isEmpty();
        assertThat(behind(died - 1, "~~1")).isEmpty();
        assertThat(behind(died + 1, "a~1")).containsExactly("z", "y", "x");
    }

    private List<String> behind(long died, String deadLetterId) {
        return this.dq.deadLetters(died + ":" + deadLetterId, 10)
            .deadLetters()
            .stream()
            .map(DeadLetter::messageId)
            .toList();
    }

    @Test
    void refusesACursorThatNoPageGave() {
        assertThatIllegalArgumentException().isThrownBy(() -> this.dq.deadLetters("nonsense", 1))
            .withMessageContaining("cursor");
    }

    private List<Lease> deadOneByOne(int count) {
        List<Lease> dead = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            this.dq.send(called("m" + i, Duration.ZERO));
            Lease lease = this.dq.claimOne();
            this.dq.deadLetter(lease);
            this.dq.advance(Duration.ofSeconds(1));
            dead.add(lease);
        }
        return dead;
    }

}

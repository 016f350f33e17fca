package io.delayqueue.faults;

import java.util.List;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * As {@link JudgeTests}, of leases and the answers to who sends, cancels and reschedules.
 */
@Tag("server")
class JudgeOfLeasesTests {

    private final Story story = new Story().well("well", 0).well("later", 50_000);

    @Test
    void twoHaveALeaseOfAMessage() {
        this.story.sent("m", 0).claimed("n0", "m", 10).handled("n0", "m", 11, "ok");
        this.story.again("m", 2_009);
        this.story.sent("o", 0).claimed("n0", "o", 10).handled("n0", "o", 11, "ok");
        this.story.again("o", 2_010);
        this.story.expect("P4 two live leases of plain id m");
    }

    @Test
    void twoHaveALeaseOfAGroup() {
        this.story.sent("m", 0, "group", "g").sent("o", 0, "group", "g").sent("p", 0, "group", "h");
        for (String number : List.of("m", "o", "p")) {
            this.story.claimed("n0", number, number.equals("m") ? 10 : 50)
                .handled("n0", number, 51, "ok")
                .settled("n0", number, number.equals("m") ? 10 : 50, "acknowledge", 60, "true");
        }
        this.story.expect("P4 two live leases of plain group g");
    }

    @Test
    void aLeaseThatWasExtendedIsGivenToAnother() {
        this.story.sent("m", 0).claimed("n0", "m", 10).handled("n0", "m", 11, "none");
        this.story.settled("n0", "m", 10, "extend", 1_000, "true");
        this.story.again("m", 2_999);
        this.story.sent("o", 0).claimed("n0", "o", 10).handled("n0", "o", 11, "none");
        this.story.settled("n0", "o", 10, "extend", 1_000, "true");
        this.story.again("o", 3_000);
        this.story.expect("P4 two live leases of plain id m");
    }

    @Test
    void aLeaseIsShort() {
        this.story.sent("m", 0)
            .claimed("n0", "m", 10, "lease", "2001")
            .handled("n0", "m", 11, "ok")
            .settled("n0", "m", 10, "acknowledge", 20, "true");
        this.story.expect("P4 a lease shorter than asked for");
    }

    @Test
    void aSettlementOfUnknownOutcomeMayHaveEndedTheLease() {
        for (String outcome : List.of("failed", "none")) {
            this.story.sent(outcome, 0)
                .claimed("n0", outcome, 10)
                .handled("n0", outcome, 11, "failed")
                .settled("n0", outcome, 10, "retry", 20, outcome)
                .claimed("n1", outcome, 30, "failures", "1")
                .handled("n1", outcome, 31, "ok", "attempt", "2")
                .settled("n1", outcome, 30, "acknowledge", 40, "true");
        }
        this.story.sent("refused", 0)
            .claimed("n0", "refused", 10)
            .handled("n0", "refused", 11, "failed")
            .settled("n0", "refused", 10, "retry", 20, "false")
            .claimed("n1", "refused", 30)
            .handled("n1", "refused", 31, "ok")
            .settled("n1", "refused", 30, "acknowledge", 40, "true");
        this.story.expect("P4 two live leases of plain id refused");
    }

    @Test
    void whatIsRefusedWhereAConnectionBrokeMayHaveBeenDoneBefore() {
        this.story.fault("CLIENT KILL TYPE normal", 21, "broken")
            .fault("CLIENT KILL TYPE normal", 22, "mended")
            .sent("m", 0, "group", "g")
            .sent("o", 1, "group", "g")
            .claimed("n0", "m", 10)
            .handled("n0", "m", 11, "ok")
            .settled("n0", "m", 10, "acknowledge", 20, "false")
            .claimed("n1", "o", 30)
            .handled("n1", "o", 31, "ok")
            .settled("n1", "o", 30, "acknowledge", 40, "true");
        this.story.expect();
    }

    @Test
    void aStaleWorkerSettles() {
        for (String operation : List.of("acknowledge", "retry", "extend", "release", "dead-letter", "start")) {
            String stale = "stale-" + operation;
            this.story.sent(stale, 0).claimed("n0", stale, 10).handled("n0", stale, 11, "none");
            this.story.claimed("n1", stale, 2_100, "suspect", "true")
                .handled("n1", stale, 2_101, "ok")
                .settled("n1", stale, 2_100, "acknowledge", 2_110, "failed")
                .settled("n0", stale, 10, operation, 2_105, "true");
            String late = "late-" + operation;
            this.story.sent(late, 0).claimed("n0", late, 10).handled("n0", late, 11, "none");
            this.story.claimed("n1", late, 2_100, "suspect", "true")
                .handled("n1", late, 2_101, "ok")
                .settled("n1", late, 2_100, "acknowledge", 2_110, "failed")
                .settled("n0", late, 10, operation, 2_105, "false");
        }
        assertThat(this.story.judged().violations()).hasSize(6).allMatch((found) -> found.promise().equals("P5"));
    }

    @Test
    void aDeadLetterThatIsThereIsAnsweredAsTheFirstTime() {
        this.story.sent("m", 0, "fate", "DOOMED")
            .claimed("n0", "m", 10, "failures", "2")
            .handled("n0", "m", 11, "failed", "attempt", "3")
            .settled("n0", "m", 10, "dead-letter", 20, "failed")
            .sent("n", 30, "id", "m")
            .claimed("n1", "n", 40)
            .handled("n1", "n", 41, "ok")
            .settled("n0", "m", 10, "dead-letter", 45, "true")
            .settled("n1", "n", 40, "acknowledge", 50, "true")
            .letter("m");
        this.story.expect("P9 2 failures counted, and there were 0 to 0");
    }

    @Test
    void oneIsHandledThatNobodyWasGiven() {
        this.story.sent("m", 0).handled("n0", "m", 10, "ok");
        this.story.expect("P6 started without a lease");
    }

    @Test
    void aHandlerStartsAfterItsLease() {
        this.story.sent("m", 0).claimed("n0", "m", 10).handled("n0", "m", 2_011, "ok");
        this.story.sent("o", 0)
            .claimed("n0", "o", 10)
            .settled("n0", "o", 10, "extend", 1_000, "true")
            .handled("n0", "o", 2_011, "ok")
            .settled("n0", "o", 10, "acknowledge", 2_020, "true");
        this.story.expect("P6 started 1000 us after its lease");
        this.story.fault("node suspended", 1_000, "broken").fault("node suspended", 2_005, "mended");
        this.story.expect();
        assertThat(this.story.judged().counts()).containsEntry("started after their lease", 1);
    }

    @Test
    void oneThatWasCancelledRuns() {
        this.story.sent("m", 0, "delay", "100")
            .cancelled("m", 50, "CANCELLED")
            .claimed("n0", "m", 100)
            .handled("n0", "m", 101, "ok");
        this.story.expect("P6 cancelled, and yet claimed", "P6 cancelled, and started 50000 us later");
    }

    @Test
    void oneThatWasCancelledWhileItsLeaseWasOverRunsLate() {
        this.story.sent("m", 0)
            .claimed("n0", "m", 10)
            .cancelled("m", 2_020, "CANCELLED")
            .handled("n0", "m", 2_030, "ok")
            .fault("node suspended", 1_000, "broken")
            .fault("node suspended", 2_025, "mended");
        this.story.expect("P6 cancelled, and started 9000 us later");
    }

    @Test
    void aCancelThatMeetsTheStartIsRight() {
        this.story.sent("m", 0).claimed("n0", "m", 10).handled("n0", "m", 11, "ok");
        this.story.cancelled("m", 10, "LEASED").settled("n0", "m", 10, "acknowledge", 20, "true");
        this.story.sent("o", 0, "delay", "10")
            .cancelled("o", 9, "CANCELLED")
            .sent("o2", 12, "id", "o")
            .claimed("n0", "o2", 20)
            .handled("n0", "o2", 21, "ok")
            .settled("n0", "o2", 20, "acknowledge", 30, "true");
        this.story.expect();
    }

    @Test
    void oneIsTriedAgainThoughACancelForbadeIt() {
        this.story.sent("m", 0)
            .claimed("n0", "m", 10)
            .handled("n0", "m", 11, "failed")
            .cancelled("m", 15, "LEASED")
            .settled("n0", "m", 10, "retry", 20, "true")
            .claimed("n0", "m", 30, "failures", "1")
            .handled("n0", "m", 31, "ok", "attempt", "2")
            .settled("n0", "m", 30, "acknowledge", 40, "true");
        this.story.expect("P7 cancelled while leased, and tried again");
    }

    @Test
    void aCallFindsNothingThoughSomethingIsThere() {
        this.story.sent("m", 0, "delay", "100")
            .cancelled("m", 50, "NOT_FOUND")
            .claimed("n0", "m", 100)
            .handled("n0", "m", 101, "ok")
            .settled("n0", "m", 100, "acknowledge", 110, "true")
            .cancelled("m", 120, "NOT_FOUND");
        this.story.expect("P7 not found, and yet claimed");
    }

    @Test
    void aCallFindsWhatIsNotThere() {
        this.story.cancelled("well", 100, "CANCELLED");
        this.story.expect("P7 found what was not there", "P7 cancelled and settled");
    }

    @Test
    void aCancelOfWhatNobodySentFindsIt() {
        this.story.cancelled("nobody", 100, "CANCELLED").cancelled("stranger", 100, "NOT_FOUND");
        this.story.expect("P7 found what was not there");
    }

    @Test
    void aRescheduleFindsWhatIsNotThere() {
        this.story.called(Event.Kind.RESCHEDULE, "well", 100, "RESCHEDULED");
        this.story.expect("P7 found what was not there");
    }

    @Test
    void oneIsAcknowledgedThatWasCancelledBefore() {
        this.story.sent("m", 0)
            .claimed("n0", "m", 10)
            .handled("n0", "m", 11, "ok")
            .cancelled("m", 2_020, "CANCELLED")
            .settled("n0", "m", 10, "acknowledge", 2_030, "true");
        this.story.expect("P7 cancelled and settled");
    }

    @Test
    void oneThatWasReplacedRuns() {
        for (String outcome : List.of("REPLACED", "AFTER_CURRENT")) {
            String id = "id-" + outcome;
            this.story.sent("old-" + outcome, 0, "id", id, "delay", "100")
                .sent("new-" + outcome, 50, "id", id, "mode", "REPLACE", "outcome", outcome)
                .claimed("n0", "new-" + outcome, 60)
                .handled("n0", "new-" + outcome, 61, "ok")
                .settled("n0", "new-" + outcome, 60, "acknowledge", 70, "true")
                .claimed("n0", "old-" + outcome, 100)
                .handled("n0", "old-" + outcome, 101, "ok")
                .settled("n0", "old-" + outcome, 100, "acknowledge", 110, "true");
        }
        this.story.expect("P7 replaced, and yet claimed", "P7 replaced, and yet claimed");
    }

    @Test
    void anIdIsLetInTwice() {
        this.story.sent("m", 0, "id", "x", "delay", "100").sent("o", 50, "id", "x");
        for (String number : List.of("o", "m")) {
            long at = number.equals("o") ? 60 : 100;
            this.story.claimed("n0", number, at)
                .handled("n0", number, at + 1, "ok")
                .settled("n0", number, at, "acknowledge", at + 10, "true");
        }
        this.story.expect("P8 let in twice");
    }

    @Test
    void aSendIsTurnedAwayForNothing() {
        this.story.sent("m", 100, "id", "well", "outcome", "KEPT")
            .sent("o", 0, "id", "x", "delay", "200")
            .sent("kept", 100, "id", "x", "outcome", "KEPT", "delay", "500", "due", "200000")
            .claimed("n0", "o", 200)
            .handled("n0", "o", 201, "ok")
            .settled("n0", "o", 200, "acknowledge", 210, "true");
        this.story.expect("P8 kept what was not there");
    }

}

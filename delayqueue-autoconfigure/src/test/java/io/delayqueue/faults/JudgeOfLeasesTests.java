package io.delayqueue.faults;

import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * As {@link JudgeTests}, of leases, attempts and the answers to who sends, cancels and
 * reschedules.
 */
class JudgeOfLeasesTests {

    private final Story story = new Story().well("well", 0).well("later", 50_000);

    private void expect(String... violations) {
        List<String> found = this.story.judged().violations().stream().map(Object::toString).toList();
        assertThat(found).hasSameSizeAs(violations);
        for (int i = 0; i < violations.length; i++) {
            assertThat(found.get(i)).startsWith(violations[i]);
        }
    }

    /** Claimed and handled well by another, who finds it a suspect. */
    private void again(String number, long at) {
        this.story.claimed("n1", number, at, "suspect", "true")
            .settled("n1", number, at, "start", at + 1, "true")
            .handled("n1", number, at + 3, "ok")
            .settled("n1", number, at, "acknowledge", at + 10, "true");
    }

    @Test
    void twoHaveALeaseOfAMessage() {
        this.story.sent("m", 0).claimed("n0", "m", 10).handled("n0", "m", 11, "ok");
        again("m", 2_009);
        this.story.sent("o", 0).claimed("n0", "o", 10).handled("n0", "o", 11, "ok");
        again("o", 2_010);
        expect("P4 two live leases of plain id m");
    }

    @Test
    void twoHaveALeaseOfAGroup() {
        this.story.sent("m", 0, "group", "g").sent("o", 0, "group", "g").sent("p", 0, "group", "h");
        for (String number : List.of("m", "o", "p")) {
            this.story.claimed("n0", number, number.equals("m") ? 10 : 50)
                .handled("n0", number, 51, "ok")
                .settled("n0", number, number.equals("m") ? 10 : 50, "acknowledge", 60, "true");
        }
        expect("P4 two live leases of plain group g");
    }

    @Test
    void aLeaseThatWasExtendedIsGivenToAnother() {
        this.story.sent("m", 0).claimed("n0", "m", 10).handled("n0", "m", 11, "none");
        this.story.settled("n0", "m", 10, "extend", 1_000, "true");
        again("m", 2_999);
        this.story.sent("o", 0).claimed("n0", "o", 10).handled("n0", "o", 11, "none");
        this.story.settled("n0", "o", 10, "extend", 1_000, "true");
        again("o", 3_000);
        expect("P4 two live leases of plain id m");
    }

    @Test
    void aLeaseIsShort() {
        this.story.sent("m", 0)
            .claimed("n0", "m", 10, "lease", "2001")
            .handled("n0", "m", 11, "ok")
            .settled("n0", "m", 10, "acknowledge", 20, "true");
        expect("P4 a lease shorter than asked for");
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
        expect("P4 two live leases of plain id refused");
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
        expect();
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
        expect("P9 2 failures counted, and there were 0 to 0");
    }

    @Test
    void oneIsHandledThatNobodyWasGiven() {
        this.story.sent("m", 0).handled("n0", "m", 10, "ok");
        expect("P6 started without a lease");
    }

    @Test
    void aHandlerStartsAfterItsLease() {
        this.story.sent("m", 0).claimed("n0", "m", 10).handled("n0", "m", 2_011, "ok");
        this.story.sent("o", 0)
            .claimed("n0", "o", 10)
            .settled("n0", "o", 10, "extend", 1_000, "true")
            .handled("n0", "o", 2_011, "ok")
            .settled("n0", "o", 10, "acknowledge", 2_020, "true");
        expect("P6 started 1000 us after its lease");
        this.story.fault("node suspended", 1_000, "broken").fault("node suspended", 2_005, "mended");
        expect();
        assertThat(this.story.judged().counts()).containsEntry("started after their lease", 1);
    }

    @Test
    void oneThatWasCancelledRuns() {
        this.story.sent("m", 0, "delay", "100")
            .cancelled("m", 50, "CANCELLED")
            .claimed("n0", "m", 100)
            .handled("n0", "m", 101, "ok");
        expect("P6 cancelled, and yet claimed", "P6 cancelled, and started 50000 us later");
    }

    @Test
    void oneThatWasCancelledWhileItsLeaseWasOverRunsLate() {
        this.story.sent("m", 0)
            .claimed("n0", "m", 10)
            .cancelled("m", 2_020, "CANCELLED")
            .handled("n0", "m", 2_030, "ok")
            .fault("node suspended", 1_000, "broken")
            .fault("node suspended", 2_025, "mended");
        expect("P6 cancelled, and started 9000 us later");
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
        expect();
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
        expect("P7 cancelled while leased, and tried again");
    }

    @Test
    void aCallFindsNothingThoughSomethingIsThere() {
        this.story.sent("m", 0, "delay", "100")
            .cancelled("m", 50, "NOT_FOUND")
            .claimed("n0", "m", 100)
            .handled("n0", "m", 101, "ok")
            .settled("n0", "m", 100, "acknowledge", 110, "true")
            .cancelled("m", 120, "NOT_FOUND");
        expect("P7 not found, and yet claimed");
    }

    @Test
    void aCallFindsWhatIsNotThere() {
        this.story.cancelled("well", 100, "CANCELLED");
        expect("P7 found what was not there", "P7 cancelled and settled");
    }

    @Test
    void aCancelOfWhatNobodySentFindsIt() {
        this.story.cancelled("nobody", 100, "CANCELLED").cancelled("stranger", 100, "NOT_FOUND");
        expect("P7 found what was not there");
    }

    @Test
    void aRescheduleFindsWhatIsNotThere() {
        this.story.called(Event.Kind.RESCHEDULE, "well", 100, "RESCHEDULED");
        expect("P7 found what was not there");
    }

    @Test
    void oneIsAcknowledgedThatWasCancelledBefore() {
        this.story.sent("m", 0)
            .claimed("n0", "m", 10)
            .handled("n0", "m", 11, "ok")
            .cancelled("m", 2_020, "CANCELLED")
            .settled("n0", "m", 10, "acknowledge", 2_030, "true");
        expect("P7 cancelled and settled");
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
        expect("P7 replaced, and yet claimed", "P7 replaced, and yet claimed");
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
        expect("P8 let in twice");
    }

    @Test
    void aSendIsTurnedAwayForNothing() {
        this.story.sent("m", 100, "id", "well", "outcome", "KEPT")
            .sent("o", 0, "id", "x", "delay", "200")
            .sent("kept", 100, "id", "x", "outcome", "KEPT", "delay", "500", "due", "200000")
            .claimed("n0", "o", 200)
            .handled("n0", "o", 201, "ok")
            .settled("n0", "o", 200, "acknowledge", 210, "true");
        expect("P8 kept what was not there");
    }

    @Test
    void aMessageIsOverTwice() {
        this.story.sent("m", 0).claimed("n0", "m", 10).handled("n0", "m", 11, "ok");
        again("m", 2_100);
        this.story.settled("n0", "m", 10, "acknowledge", 2_050, "true");
        expect("P1 over, and yet claimed again", "P5 over twice");
    }

    @Test
    void failuresAreCountedTwiceOrNotAtAll() {
        this.story.sent("m", 0)
            .failed("n0", "m", 10)
            .claimed("n0", "m", 20, "failures", "2")
            .handled("n0", "m", 21, "ok", "attempt", "3")
            .settled("n0", "m", 20, "acknowledge", 30, "true");
        this.story.sent("o", 0)
            .failed("n0", "o", 10)
            .claimed("n0", "o", 20)
            .handled("n0", "o", 21, "ok")
            .settled("n0", "o", 20, "acknowledge", 30, "true");
        assertThat(this.story.judged().violations()).extracting(Object::toString)
            .satisfiesExactlyInAnyOrder(
                    (found) -> assertThat(found).startsWith("P9 2 failures counted, and there were 1 to 1"),
                    (found) -> assertThat(found).startsWith("P9 0 failures counted, and there were 1 to 1"));
    }

    @Test
    void anAttemptIsBurnedByARelease() {
        this.story.sent("m", 0)
            .claimed("n0", "m", 10)
            .settled("n0", "m", 10, "release", 20, "true")
            .claimed("n0", "m", 30, "failures", "1")
            .handled("n0", "m", 31, "ok", "attempt", "2")
            .settled("n0", "m", 30, "acknowledge", 40, "true");
        expect("P9 1 failures counted, and there were 0 to 0");
    }

    @Test
    void aLapseIsCountedWithoutAStartOrNotCountedAfterOne() {
        this.story.sent("m", 0)
            .claimed("n0", "m", 10)
            .handled("n0", "m", 11, "none")
            .claimed("n1", "m", 2_100, "suspect", "true", "lapses", "1")
            .handled("n1", "m", 2_103, "ok", "lapses", "1")
            .settled("n1", "m", 2_100, "acknowledge", 2_110, "true");
        expect("P9 1 lapses counted, and there were 0 to 0");
        this.story.sent("o", 0).claimed("n0", "o", 10).settled("n0", "o", 10, "start", 11, "true");
        again("o", 2_100);
        assertThat(this.story.judged().violations()).extracting(Object::toString)
            .anyMatch((found) -> found.startsWith("P9 0 lapses counted, and there were 1 to 1"))
            .hasSize(2);
    }

    @Test
    void anAttemptIsMadeBeyondTheMostThereAre() {
        this.story.sent("m", 0, "fate", "DOOMED")
            .failed("n0", "m", 10)
            .failed("n0", "m", 20, "failures", "1")
            .failed("n0", "m", 30, "failures", "2")
            .claimed("n0", "m", 40, "failures", "3")
            .handled("n0", "m", 41, "failed", "attempt", "4")
            .settled("n0", "m", 40, "dead-letter", 50, "true")
            .letter("m", "failures", "4");
        expect("P9 one attempt too many", "P9 died too late");
    }

    @Test
    void aHandlerStartsThoughItsLapsesAreUsedUp() {
        this.story.sent("m", 0)
            .handled("n0", "m", 11, "ok", "lapses", Integer.toString(FaultRun.MAX_LAPSES))
            .claimed("n0", "m", 10)
            .settled("n0", "m", 10, "acknowledge", 20, "true");
        expect("P9 one attempt too many");
    }

    @Test
    void aDeadLetterIsMissing() {
        dying("m");
        dying("o");
        this.story.letter("o");
        expect("P1 lost: ");
    }

    private void dying(String number) {
        this.story.sent(number, 0, "fate", "DOOMED")
            .failed("n0", number, 10)
            .failed("n0", number, 20, "failures", "1")
            .claimed("n0", number, 30, "failures", "2")
            .handled("n0", number, 31, "failed", "attempt", "3")
            .settled("n0", number, 30, "dead-letter", 40, "true");
    }

    @Test
    void aDeadLetterIsThereTwice() {
        dying("m");
        this.story.letter("m").letter("m");
        expect("P9 2 dead letters");
    }

    @Test
    void aMessageDiesForNoReason() {
        this.story.failed("n0", "well", 12).letter("well");
        assertThat(this.story.judged().violations()).extracting(Object::toString)
            .anyMatch((found) -> found.startsWith("P9 dead for no reason"));
    }

    @Test
    void aMessageDiesBeforeItsTime() {
        this.story.sent("m", 0, "fate", "DOOMED")
            .claimed("n0", "m", 30)
            .handled("n0", "m", 31, "failed")
            .settled("n0", "m", 30, "dead-letter", 40, "true")
            .letter("m", "failures", "1");
        expect("P9 died too early");
    }

    @Test
    void aMessageDiesOfTheCauseOfAnother() {
        dying("m");
        this.story.letter("m", "cause", "It is the fate of o");
        expect("P9 dead of another cause");
    }

    @Test
    void aMessageThatKillsItsProcessesDiesOfItsLapses() {
        this.story.sent("m", 0, "fate", "POISON")
            .letter("m", "failures", "0", "lapses", Integer.toString(FaultRun.MAX_LAPSES), "cause", "lease ran out");
        expect();
        this.story.sent("o", 0, "fate", "POISON")
            .letter("o", "failures", "0", "lapses", Integer.toString(FaultRun.MAX_LAPSES + 1), "cause",
                    "lease ran out");
        expect("P9 died too late");
    }

    @Test
    void aMessageExpiresBeforeItsTime() {
        this.story.sent("m", 0, "ttl", "100").letter("m", "failures", "0", "cause", "expired", "died", "100000");
        expect();
        this.story.sent("o", 0, "ttl", "100").letter("o", "failures", "0", "cause", "expired", "died", "99999");
        this.story.sent("p", 0).letter("p", "failures", "0", "cause", "expired");
        expect("P9 expired before its time", "P9 expired before its time");
    }

    @Test
    void oneOfAGroupIsClaimedOutOfTurn() {
        this.story.sent("first", 0, "group", "g", "delay", "10").sent("second", 0, "group", "g", "delay", "20");
        this.story.sent("third", 200, "group", "g").sent("fourth", 250, "group", "g");
        long at = 100;
        for (String number : List.of("second", "first", "third", "fourth")) {
            at += 100;
            this.story.claimed("n0", number, at)
                .handled("n0", number, at + 1, "ok")
                .settled("n0", number, at, "acknowledge", at + 10, "true");
        }
        expect("groups out of turn");
    }

}

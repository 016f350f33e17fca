package io.delayqueue.faults;

import java.util.List;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** As {@link JudgeTests}, of attempts and dead letters. */
@Tag("server")
class JudgeOfDeathsTests {

    private final Story story = new Story().well("well", 0).well("later", 50_000);

    @Test
    void aMessageIsOverTwice() {
        this.story.sent("m", 0).claimed("n0", "m", 10).handled("n0", "m", 11, "ok");
        this.story.again("m", 2_100);
        this.story.settled("n0", "m", 10, "acknowledge", 2_050, "true");
        this.story.expect("P1 over, and yet claimed again", "P5 over twice");
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
        this.story.expect("P9 1 failures counted, and there were 0 to 0");
    }

    @Test
    void aLapseIsCountedWithoutAStartOrNotCountedAfterOne() {
        this.story.sent("m", 0)
            .claimed("n0", "m", 10)
            .handled("n0", "m", 11, "none")
            .claimed("n1", "m", 2_100, "suspect", "true", "lapses", "1")
            .handled("n1", "m", 2_103, "ok", "lapses", "1")
            .settled("n1", "m", 2_100, "acknowledge", 2_110, "true");
        this.story.expect("P9 1 lapses counted, and there were 0 to 0");
        this.story.sent("o", 0).claimed("n0", "o", 10).settled("n0", "o", 10, "start", 11, "true");
        this.story.again("o", 2_100);
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
        this.story.expect("P9 one attempt too many", "P9 died too late");
    }

    @Test
    void aHandlerStartsThoughItsLapsesAreUsedUp() {
        this.story.sent("m", 0)
            .handled("n0", "m", 11, "ok", "lapses", Integer.toString(FaultRun.MAX_LAPSES))
            .claimed("n0", "m", 10)
            .settled("n0", "m", 10, "acknowledge", 20, "true");
        this.story.expect("P9 one attempt too many");
    }

    @Test
    void aDeadLetterIsMissing() {
        dying("m");
        dying("o");
        this.story.letter("o");
        this.story.expect("P1 lost: ");
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
        this.story.expect("P9 2 dead letters");
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
        this.story.expect("P9 died too early");
    }

    @Test
    void aMessageDiesOfTheCauseOfAnother() {
        dying("m");
        this.story.letter("m", "cause", "It is the fate of o");
        this.story.expect("P9 dead of another cause");
    }

    @Test
    void aMessageThatKillsItsProcessesDiesOfItsLapses() {
        this.story.sent("m", 0, "fate", "POISON")
            .letter("m", "failures", "0", "lapses", Integer.toString(FaultRun.MAX_LAPSES), "cause", "lease ran out");
        this.story.expect();
        this.story.sent("o", 0, "fate", "POISON")
            .letter("o", "failures", "0", "lapses", Integer.toString(FaultRun.MAX_LAPSES + 1), "cause",
                    "lease ran out");
        this.story.expect("P9 died too late");
    }

    @Test
    void aMessageExpiresBeforeItsTime() {
        this.story.sent("m", 0, "ttl", "100").letter("m", "failures", "0", "cause", "expired", "died", "100000");
        this.story.expect();
        this.story.sent("o", 0, "ttl", "100").letter("o", "failures", "0", "cause", "expired", "died", "99999");
        this.story.sent("p", 0).letter("p", "failures", "0", "cause", "expired");
        this.story.expect("P9 expired before its time", "P9 expired before its time");
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
        this.story.expect("groups out of turn");
    }

}

package io.delayqueue.faults;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

import io.delayqueue.faults.Event.Kind;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The judge is no better than what he notices: each test tells a story in which exactly
 * one promise is broken, beside messages of which all is well, and one that is like it
 * and right.
 */
@Tag("server")
class JudgeTests {

    private final Story story = new Story().well("well", 0).well("later", 5_000);

    @Test
    void findsNothingWhereAllIsWell() {
        this.story.failed("n0", sent("m", 0), 100)
            .failed("n1", "m", 200, "failures", "1")
            .claimed("n0", "m", 300, "failures", "2")
            .handled("n0", "m", 301, "ok", "attempt", "3")
            .settled("n0", "m", 300, "acknowledge", 310, "true");
        this.story.expect();
    }

    private String sent(String number, long at, String... others) {
        this.story.sent(number, at, others);
        return number;
    }

    @Test
    void aSendIsLost() {
        sent("m", 0);
        this.story.expect("P1 lost: ");
    }

    @Test
    void aSuccessorIsLost() {
        sent("m", 100, "id", "well", "outcome", "AFTER_CURRENT");
        this.story.settled("n0", "well", 10, "extend", 30, "false");
        this.story.expect("P1 lost: ");
    }

    @Test
    void aSendWasLeftAfterItsHandlerFailed() {
        this.story.failed("n0", sent("m", 0), 100);
        this.story.expect("P1 lost: ");
    }

    @Test
    void aSendThatWasCancelledIsNotLost() {
        this.story.cancelled(sent("m", 0, "delay", "1000"), 100, "CANCELLED");
        this.story.expect();
    }

    @Test
    void aSendWhoseCancelIsOfUnknownOutcomeIsNotLost() {
        this.story.cancelled(sent("m", 0, "delay", "1000"), 100, "UNKNOWN");
        this.story.cancelled(sent("o", 0, "delay", "1000"), 100, "none");
        this.story.expect();
    }

    @Test
    void aSendWhoseCancelFoundNothingIsLost() {
        this.story.cancelled(sent("m", 0, "delay", "1000"), 100, "NOT_FOUND");
        this.story.expect("P1 lost: ");
    }

    @Test
    void aCancelThatWasMadeAgainMayHaveFoundItBefore() {
        this.story.cancelled(sent("m", 0, "delay", "1000"), 100, "NOT_FOUND")
            .fault("a reply lost", 90, "broken")
            .fault("a reply lost", 110, "mended");
        this.story.expect();
    }

    @Test
    void aCancelThatWasOverBeforeTheSendExcusesNothing() {
        this.story.well("m", 0).cancelled("m", 100, "NOT_FOUND");
        sent("again", 200, "id", "m");
        this.story.expect("P1 lost: ");
    }

    @Test
    void aSendThatWasReplacedIsNotLost() {
        sent("m", 0, "delay", "1000");
        sent("new", 100, "id", "m", "mode", "REPLACE", "outcome", "REPLACED");
        this.story.claimed("n0", "new", 110)
            .handled("n0", "new", 111, "ok")
            .settled("n0", "new", 110, "acknowledge", 120, "true");
        sent("o", 0, "delay", "1000");
        sent("perhaps", 100, "id", "o", "mode", "REPLACE", "effect", "UNKNOWN");
        this.story.expect();
    }

    @Test
    void aSendThatFoundNothingToReplaceExcusesNothing() {
        sent("m", 0, "delay", "1000");
        sent("new", 100, "id", "m", "mode", "REPLACE");
        this.story.claimed("n0", "new", 110)
            .handled("n0", "new", 111, "ok")
            .settled("n0", "new", 110, "acknowledge", 120, "true");
        this.story.expect("P1 lost: ");
    }

    @Test
    void aSendOfUnknownEffectMayBeLostOrHandled() {
        sent("m", 0, "effect", "UNKNOWN");
        sent("o", 0, "end", "none");
        sent("p", 0, "effect", "UNKNOWN");
        this.story.claimed("n0", "p", 10)
            .handled("n0", "p", 11, "ok")
            .settled("n0", "p", 10, "acknowledge", 20, "true");
        this.story.expect();
    }

    @Test
    void aSendWithNoEffectRuns() {
        sent("m", 0, "effect", "NONE");
        sent("o", 0, "effect", "NONE");
        this.story.claimed("n0", "m", 10)
            .handled("n0", "m", 11, "ok")
            .settled("n0", "m", 10, "acknowledge", 20, "true");
        this.story.expect("P1 a send failed with no effect");
    }

    @Test
    void aStrangerIsHandled() {
        this.story.claimed("n0", "m", 10)
            .handled("n0", "m", 11, "ok")
            .settled("n0", "m", 10, "acknowledge", 20, "true");
        this.story.expect("P1 nobody sent 'm'");
    }

    @Test
    void aMessageIsHandledWithTheContentOfAnother() {
        sent("m", 0, "group", "a");
        this.story.claimed("n0", "m", 10, "group", "b")
            .handled("n0", "m", 11, "ok")
            .settled("n0", "m", 10, "acknowledge", 20, "true");
        this.story.expect("P8 not what was sent");
    }

    @Test
    void whatIsOverComesBack() {
        this.story.claimed("n1", "well", 4_000).settled("n1", "well", 4_000, "release", 4_001, "true");
        this.story.expect("P1 over, and yet claimed again");
    }

    @Test
    void whatIsOverMayComeBackByItsSendMadeAgain() {
        sent("m", 0, "end", "none");
        for (int at : new int[] { 10, 1_000 }) {
            this.story.claimed("n0", "m", at)
                .handled("n0", "m", at + 1, "ok")
                .settled("n0", "m", at, "acknowledge", at + 10, "true");
        }
        this.story.expect();
    }

    @Test
    void aHandlerIsAMicrosecondEarly() {
        sent("m", 0, "delay", "10", "due", "10001");
        this.story.claimed("n0", "m", 10, "now", "10001", "due", "10001", "token", "2010001")
            .handled("n0", "m", 10, "ok")
            .settled("n0", "m", 10, "acknowledge", 20, "true", "token", "2010001");
        sent("o", 0, "delay", "10");
        this.story.claimed("n0", "o", 10)
            .handled("n0", "o", 10, "ok")
            .settled("n0", "o", 10, "acknowledge", 20, "true");
        this.story.expect("P2 1 us early");
    }

    @Test
    void whatIsHandledBeforeItsSendIsAnsweredIsDueAsFirstAskedFor() {
        // Repeated by the client after the first was done, it is told the later time.
        sent("m", 0, "delay", "10", "due", "50000", "answered", "100");
        this.story.claimed("n0", "m", 20)
            .handled("n0", "m", 21, "ok")
            .settled("n0", "m", 20, "acknowledge", 30, "true");
        sent("n", 0, "delay", "10", "due", "50000", "answered", "22");
        this.story.claimed("n0", "n", 20)
            .handled("n0", "n", 30, "ok")
            .settled("n0", "n", 20, "acknowledge", 35, "true");
        sent("o", 0, "delay", "10", "due", "50000");
        this.story.claimed("n0", "o", 20)
            .handled("n0", "o", 21, "ok")
            .settled("n0", "o", 20, "acknowledge", 30, "true");
        this.story.expect("P2 29000 us early", "P2 claimed 30000 us early");
    }

    @Test
    void aClaimIsAMicrosecondEarlyAndItsHandlerIsNot() {
        sent("m", 0, "delay", "10", "due", "10001");
        this.story.claimed("n0", "m", 10, "due", "10001")
            .handled("n0", "m", 11, "ok")
            .settled("n0", "m", 10, "acknowledge", 20, "true");
        this.story.expect("P2 claimed 1 us early");
    }

    @Test
    void aSendIsAnsweredWithADueTimeThatIsTooEarly() {
        sent("m", 0, "delay", "10", "due", "9999");
        this.story.claimed("n0", "m", 10)
            .handled("n0", "m", 11, "ok")
            .settled("n0", "m", 10, "acknowledge", 20, "true");
        this.story.expect("P2 told to be due earlier");
    }

    @Test
    void aHandlerIsEarlyAfterAReschedule() {
        sent("m", 0, "delay", "10");
        this.story.called(Kind.RESCHEDULE, "m", 2, "RESCHEDULED", "delay", "1000")
            .claimed("n0", "m", 20)
            .handled("n0", "m", 1_100, "ok")
            .settled("n0", "m", 20, "acknowledge", 1_110, "true");
        this.story.expect("P2 claimed 982000 us early");
    }

    @Test
    void aRescheduleOfUnknownOutcomeMayHaveHappenedOrNot() {
        sent("m", 0, "delay", "1000");
        this.story.called(Kind.RESCHEDULE, "m", 2, "UNKNOWN", "delay", "10")
            .claimed("n0", "m", 20)
            .handled("n0", "m", 21, "ok")
            .settled("n0", "m", 20, "acknowledge", 30, "true");
        sent("o", 0, "delay", "10");
        this.story.called(Kind.RESCHEDULE, "o", 2, "none", "delay", "1000")
            .claimed("n0", "o", 20)
            .handled("n0", "o", 21, "ok")
            .settled("n0", "o", 20, "acknowledge", 30, "true");
        this.story.expect();
    }

    @Test
    void aRescheduleThatWasOverBeforeTheSendChangesNothing() {
        sent("m", 0, "id", "x", "delay", "1000");
        this.story.called(Kind.RESCHEDULE, "x", 2, "RESCHEDULED", "delay", "10")
            .claimed("n0", "m", 20)
            .handled("n0", "m", 21, "ok")
            .settled("n0", "m", 20, "acknowledge", 30, "true");
        sent("o", 100, "id", "x", "delay", "1000");
        this.story.claimed("n0", "o", 1_000)
            .handled("n0", "o", 1_101, "ok")
            .settled("n0", "o", 1_000, "acknowledge", 1_120, "true");
        this.story.expect("P2 claimed 100000 us early");
    }

    @Test
    void aRetryIsEarly() {
        sent("m", 0);
        this.story.claimed("n0", "m", 10)
            .handled("n0", "m", 11, "failed")
            .settled("n0", "m", 10, "retry", 13, "true", "delay", "50")
            .claimed("n0", "m", 60, "failures", "1")
            .handled("n0", "m", 61, "ok", "attempt", "2")
            .settled("n0", "m", 60, "acknowledge", 70, "true");
        this.story.expect("P2 given back until 63000, and claimed before");
    }

    @Test
    void aMessageRunsAfterItExpired() {
        sent("m", 0, "ttl", "100");
        this.story.claimed("n0", "m", 99)
            .handled("n0", "m", 99, "ok")
            .settled("n0", "m", 99, "acknowledge", 110, "true");
        sent("o", 0, "ttl", "100");
        this.story.claimed("n0", "o", 100)
            .handled("n0", "o", 101, "ok")
            .settled("n0", "o", 100, "acknowledge", 110, "true");
        this.story.expect("expiry claimed 0 us after");
    }

    @Test
    void aHandlerStartsLongAfterItsMessageExpired() {
        sent("m", 0, "ttl", "100");
        this.story.claimed("n0", "m", 99)
            .handled("n0", "m", 1_601, "ok")
            .settled("n0", "m", 99, "acknowledge", 1_610, "true");
        this.story.expect("expiry started 1501000 us after");
    }

    @Test
    void aTornLineIsNotRead(@TempDir Path directory) throws Exception {
        StringBuilder lines = new StringBuilder();
        this.story.events().forEach((event) -> lines.append(event.toLine()).append("\t.\n"));
        String torn = new Event(99, "n0", 9, Kind.HANDLE, "m", Map.of("number", "m")).toLine();
        for (int cut : new int[] { 1, torn.length() / 2, torn.length() }) {
            Files.writeString(directory.resolve("n0.history"), lines + torn.substring(0, cut));
            assertThat(History.read(directory).all()).hasSameSizeAs(this.story.events())
                .containsExactlyInAnyOrderElementsOf(this.story.events());
        }
    }

    @Test
    void latenessCountsByThePhaseOfTheDueTime() {
        this.story.phase("calm", -100).phase("broken", 4_000).phase("after", 6_000);
        sent("m", 5_500, "delay", "400");
        this.story.claimed("n0", "m", 7_000)
            .handled("n0", "m", 7_001, "failed")
            .settled("n0", "m", 7_000, "retry", 7_003, "true")
            .claimed("n0", "m", 7_010, "failures", "1")
            .handled("n0", "m", 7_011, "ok", "attempt", "2")
            .settled("n0", "m", 7_010, "acknowledge", 7_020, "true");
        this.story.well("o", 6_100);
        assertThat(this.story.judged().lateness()).containsOnlyKeys("calm", "broken", "after")
            .containsEntry("calm", new long[] { 11_000 })
            .containsEntry("broken", new long[] { 11_000, 1_101_000 })
            .containsEntry("after", new long[] { 11_000 });
    }

    @Test
    void whatADeadNodeHeldWaits() {
        sent("m", 0);
        sent("o", 0);
        this.story.event(Kind.CLAIM, "n0", 0)
            .claimed("n7", "m", 10)
            .handled("n7", "m", 11, "none")
            .claimed("n7", "o", 10)
            .handled("n7", "o", 11, "ok")
            .settled("n7", "o", 10, "acknowledge", 99, "none")
            .fault("node killed", 100, "dies", "node", "n7")
            .claimed("n0", "m", 2_050, "suspect", "true")
            .handled("n0", "m", 2_051, "ok")
            .settled("n0", "m", 2_050, "acknowledge", 2_060, "true");
        this.story.expect();
        assertThat(this.story.judged().delaysAfterDeaths()).containsExactly(1_950_000);
    }

    @Test
    void somethingIsLeft() {
        this.story.left("key faults:{plain}:messages");
        this.story.expect("P10 left over: ");
    }

}

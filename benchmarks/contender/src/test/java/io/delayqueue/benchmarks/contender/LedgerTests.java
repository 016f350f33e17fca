package io.delayqueue.benchmarks.contender;

import java.nio.file.Path;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** The delivery check finds what is wrong: everything else rests on it. */
class LedgerTests {

    private static final long HOUR = 3_600_000_000L;

    private static Work due(long number, long aheadMicros) {
        return Work.of(number, Wall.micros() + aheadMicros, 100);
    }

    private static void handle(Ledger ledger, Work work) {
        ledger.begun(work);
        ledger.completed(work);
    }

    private static String findings(Ledger ledger) {
        return ledger.findings().toString();
    }

    @Test
    void aMessageThatIsNotHandledIsLost() throws InterruptedException {
        Ledger ledger = Ledger.inMemory(3);
        handle(ledger, due(0, 0));
        handle(ledger, due(2, 0));

        assertThat(findings(ledger)).contains(" expected=3 lost=1 doubled=0 unexpected=0 early=0 ");
        assertThat(ledger.await(0)).isFalse();

        handle(ledger, due(1, 0));

        assertThat(findings(ledger)).contains(" lost=0 doubled=0 ");
        assertThat(ledger.await(0)).isTrue();
    }

    @Test
    void aMessageThatIsHandledAgainIsDoubledAndCompletesNothing() throws InterruptedException {
        Ledger ledger = Ledger.inMemory(2);
        handle(ledger, due(0, 0));
        handle(ledger, due(0, 0));

        assertThat(findings(ledger)).contains(" lost=1 doubled=1 ");
        assertThat(ledger.await(0)).isFalse();
    }

    @Test
    void aMessageBeforeItsTimeIsEarly() {
        Ledger ledger = Ledger.inMemory(3);
        handle(ledger, due(0, HOUR));
        handle(ledger, due(1, -1));
        handle(ledger, due(2, -HOUR / 2));

        assertThat(findings(ledger)).contains(" early=1 earlyByAMilli=1 ").containsPattern("maxMicros=3[56][0-9]{8}");
    }

    @Test
    void anEarlyMessageIsAsFarFromItsDueTimeAsALateOne() {
        Ledger ledger = Ledger.inMemory(1);
        handle(ledger, due(0, HOUR / 2));

        assertThat(findings(ledger)).contains(" early=1 ").containsPattern("p50Micros=(179|180)[0-9]{7}");
    }

    @Test
    void aMessageOfTheBacklogIsUnexpected() {
        Ledger ledger = Ledger.inMemory(1);
        handle(ledger, due(-1, 0));
        handle(ledger, due(1, 0));

        assertThat(findings(ledger)).contains(" lost=1 doubled=0 unexpected=2 ");
    }

    @Test
    void whatOthersHandledCountsInASharedFile(@TempDir Path directory) {
        Ledger one = Ledger.inFile(2, directory.resolve("counts"));
        Ledger other = Ledger.inFile(2, directory.resolve("counts"));
        handle(one, due(0, 0));
        handle(other, due(0, 0));
        handle(other, due(1, 0));

        assertThat(findings(one)).contains(" lost=0 doubled=0 ");
        assertThat(findings(other)).contains(" lost=0 doubled=1 ");
    }

    @Test
    void latenessIsKeptBetweenReads() {
        Ledger ledger = Ledger.inMemory(2);
        handle(ledger, due(0, -HOUR / 2));
        findings(ledger);
        handle(ledger, due(1, 0));

        assertThat(findings(ledger)).containsPattern("maxMicros=18[0-9]{8}");
    }

}

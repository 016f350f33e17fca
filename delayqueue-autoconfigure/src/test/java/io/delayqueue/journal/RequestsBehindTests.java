package io.delayqueue.journal;

import java.util.Optional;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests which requests a relay takes over from other nodes while its own ones wait. */
class RequestsBehindTests {

    private static final RequestsBehind.Id ID = new RequestsBehind.Id("orders", "1");

    /** P1: the row would be returned as too old, and its new claim would be ended. */
    @Test
    void aRequestThatASearchHasClaimedAgainWaitsOnce() {
        RequestsBehind behind = new RequestsBehind(10);
        Submission old = Submission.of(1, 0);
        behind.add(ID, old);

        behind.remove(ID, 1);
        assertThat(behind.isEmpty()).isTrue();
        behind.add(ID, Submission.of(1, 10));

        assertThat(behind.size()).isOne();
        assertThat(behind.poll(5)).extracting(Submission::insertedAt).containsExactly(10L);
        assertThat(old.answer()).isCompletedWithValue(Optional.empty());
    }

    /** P3: the requests of this node need room. */
    @Test
    void requestsOfOtherNodesTakeHalfOfTheRoom() {
        RequestsBehind behind = new RequestsBehind(10);
        IntStream.rangeClosed(1, 5).forEach((i) -> behind.add(ID, Submission.of(i, 0)));
        assertThat(behind.hasRoom(ID)).isTrue();

        behind.add(ID, Submission.of(6, 0));

        assertThat(behind.hasRoom(ID)).isFalse();
    }

    /** A search adds a page of an id, which must fit: its rows are claimed before. */
    @Test
    void aPageOfRequestsOfAnIdFits() {
        RequestsBehind behind = new RequestsBehind(10_000);
        IntStream.rangeClosed(1, 900).forEach((i) -> behind.add(ID, Submission.of(i, 0)));
        assertThat(behind.hasRoom(ID)).isTrue();

        behind.add(ID, Submission.of(901, 0));

        assertThat(behind.hasRoom(ID)).isFalse();
    }

}

package io.delayqueue.model;

import java.util.List;

import io.delayqueue.model.Answer.Code;
import io.delayqueue.model.Answer.Grant;
import io.delayqueue.model.Linearization.Event;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** The search itself: it finds orders that there are, and none that there are not. */
class LinearizationTests {

    private static final Call SEND = Call.send(Op.KEEP, 1, 0);

    private static final Call CANCEL = Call.byId(Op.CANCEL, 0);

    private static final Call CLAIM = Call.claim(1, 1);

    private static final Answer GOT = new Answer(Code.GOT, new Grant(1, 1, 0, 0, false));

    @Test
    void takesCallsOneAfterTheOther() {
        assertThat(Linearization.exists(List.of(event(1, 2, SEND, Code.SCHEDULED), event(3, 4, CANCEL, Code.CANCELLED),
                event(5, 6, CANCEL, Code.NOT_FOUND))))
            .isTrue();
    }

    @Test
    void noticesAnAnswerThatCannotBe() {
        assertThat(
                Linearization.exists(List.of(event(1, 2, SEND, Code.SCHEDULED), event(3, 4, CANCEL, Code.NOT_FOUND))))
            .isFalse();
    }

    @Test
    void takesCallsThatOverlapInAnyOrder() {
        assertThat(
                Linearization.exists(List.of(event(1, 9, SEND, Code.SCHEDULED), event(3, 4, CANCEL, Code.NOT_FOUND))))
            .isTrue();
    }

    @Test
    void noticesThatBothHaveWon() {
        List<Event> both = List.of(event(1, 2, SEND, Code.SCHEDULED), event(3, 9, CANCEL, Code.CANCELLED),
                new Event(3, 9, CLAIM, GOT));
        List<Event> one = List.of(event(1, 2, SEND, Code.SCHEDULED), event(3, 9, CANCEL, Code.LEASED),
                new Event(3, 9, CLAIM, GOT));

        assertThat(Linearization.exists(both)).isFalse();
        assertThat(Linearization.exists(one)).isTrue();
    }

    @Test
    void noticesAStaleRead() {
        assertThat(Linearization.exists(List.of(event(1, 2, SEND, Code.SCHEDULED), event(1, 9, CANCEL, Code.CANCELLED),
                event(10, 11, Call.send(Op.KEEP, 2, 0), Code.KEPT))))
            .isFalse();
    }

    @Test
    void aCallWithoutAnAnswerMayHaveHappenedOrNot() {
        Event lost = Event.unanswered(3, CANCEL);

        assertThat(Linearization
            .exists(List.of(event(1, 2, SEND, Code.SCHEDULED), lost, event(5, 6, CANCEL, Code.NOT_FOUND)))).isTrue();
        assertThat(Linearization
            .exists(List.of(event(1, 2, SEND, Code.SCHEDULED), lost, event(5, 6, CANCEL, Code.CANCELLED)))).isTrue();
        assertThat(Linearization.exists(List.of(event(1, 2, SEND, Code.SCHEDULED), event(3, 4, CANCEL, Code.NOT_FOUND),
                Event.unanswered(5, CANCEL))))
            .isFalse();
    }

    private static Event event(long start, long end, Call call, Code code) {
        return new Event(start, end, call, Answer.of(code));
    }

}

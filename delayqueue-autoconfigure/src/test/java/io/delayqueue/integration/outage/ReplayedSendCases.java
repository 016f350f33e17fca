package io.delayqueue.integration.outage;

import java.util.List;
import java.util.Map;

import io.delayqueue.CancelResult;
import io.delayqueue.MessageState;
import io.delayqueue.RescheduleResult;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The scripts of sends, and of changes to messages that wait, for
 * {@link ReplayedScriptTests}.
 */
final class ReplayedSendCases extends ReplayedCases {

    ReplayedSendCases(ReplayedApplication replayed) {
        super(replayed);
    }

    @Override
    Map<String, Runnable> cases() {
        return Map.ofEntries(Map.entry("send", this::aBatchOfSends), Map.entry("schedule", this::aBatchOfSendsToGroups),
                Map.entry("cancel", this::aCancelOfAHead), Map.entry("reschedule", this::aRescheduleOfAHead));
    }

    private void aBatchOfSends() {
        List<SendResult> sent = repeated("send", () -> this.queue.sendAll(plain(3, FAR)));

        assertThat(sent).extracting(SendResult::outcome).containsOnly(SendOutcome.SCHEDULED);
        assertThat(counts()).isEqualTo(List.of(3L, 0L, 0L));
        cancelAll(3);
    }

    private void aBatchOfSendsToGroups() {
        List<SendResult> sent = repeated("schedule", () -> this.queue.sendAll(grouped(3, FAR)));

        assertThat(sent).extracting(SendResult::outcome).containsOnly(SendOutcome.SCHEDULED);
        assertThat(counts()).isEqualTo(List.of(3L, 0L, 0L));
        cancelAll(3);
    }

    private void aCancelOfAHead() {
        this.queue.sendAll(List.of(grouped("head", FAR), grouped("follower", FAR.plusHours(1))));
        assertThat(repeated("cancel", () -> this.queue.cancel("orders", "head"))).isEqualTo(CancelResult.NOT_FOUND);

        assertThat(counts()).isEqualTo(List.of(1L, 0L, 0L));
        cancelled("follower");
    }

    private void aRescheduleOfAHead() {
        this.queue.sendAll(List.of(grouped("head", FAR), grouped("follower", FAR.plusHours(1))));
        assertThat(repeated("reschedule", () -> this.queue.reschedule("orders", "head", FAR.plusHours(2))))
            .isEqualTo(RescheduleResult.RESCHEDULED);

        assertThat(this.queue.find("orders", "head").orElseThrow().state()).isEqualTo(MessageState.SCHEDULED);
        cancelled("head", "follower");
    }

}

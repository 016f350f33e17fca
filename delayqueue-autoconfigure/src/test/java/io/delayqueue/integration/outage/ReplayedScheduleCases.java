package io.delayqueue.integration.outage;

import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

import io.delayqueue.QueueName;
import io.delayqueue.fixtures.store.ScheduleValues;
import io.delayqueue.store.schedule.DeclarationResult;
import io.delayqueue.store.schedule.FireResult;
import io.delayqueue.store.schedule.ScheduleChange;
import io.delayqueue.store.schedule.ScheduleState;
import io.delayqueue.store.schedule.ScheduleStore;
import io.delayqueue.store.schedule.StepOutcome;
import io.delayqueue.store.schedule.ScheduleSnapshot;
import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assertions.assertThat;

/** The scripts of schedules, for {@link ReplayedScriptTests}. */
final class ReplayedScheduleCases {

    private static final QueueName QUEUE = new QueueName("orders");

    private static final String NODE = "node";

    private final ScheduleStore store;

    private final Repeater repeater;

    ReplayedScheduleCases(ScheduleStore store, Repeater repeater) {
        this.store = store;
        this.repeater = repeater;
    }

    /** Creates a schedule; the second run finds it. */
    void aChange() {
        assertThat(this.repeater.repeated("change-schedule", () -> change(null, ScheduleValues.fresh()))).isFalse();

        assertThat(find()).isEqualTo(ScheduleValues.fresh());
        remove();
    }

    /** Fires one occurrence; the steps of the second run are stale. */
    void aFiring() {
        create();
        FireResult firing = this.repeater.repeated("fire-schedules",
                () -> this.store.fire(QUEUE, NODE, List.of(ScheduleValues.send(ScheduleValues.fresh()))).join());

        assertThat(firing.outcomes()).containsExactly(StepOutcome.STALE);
        ScheduleState state = find();
        assertThat(state.sent()).isEqualTo(1);
        assertThat(state.last()).isEqualTo(ScheduleValues.minute(0));
        assertThat(state.next()).isEqualTo(ScheduleValues.minute(1));
        assertThat(firing.due()).isEqualTo(Map.of(ScheduleValues.NAME, state));
        assertThat(this.store.resign(QUEUE, NODE).join()).isTrue();
        remove();
    }

    void aResignation() {
        create();
        this.store.fire(QUEUE, NODE, List.of(ScheduleValues.send(ScheduleValues.fresh()))).join();
        assertThat(this.repeater.repeated("resign-firing-node", () -> this.store.resign(QUEUE, NODE).join())).isFalse();

        assertThat(this.store.fire(QUEUE, "another", List.of()).join().firingNode()).isNull();
        remove();
    }

    void aDeclaration() {
        assertThat(this.repeater.repeated("declare-schedules",
                () -> this.store.declare(QUEUE, "app", true, Map.of(ScheduleValues.NAME, "print")).join()))
            .isEqualTo(new DeclarationResult(Map.of(ScheduleValues.NAME, DeclarationResult.Standing.WINS), List.of()));
    }

    void aLook() {
        create();
        assertThat(this.repeater.repeated("schedules", () -> this.store.list(QUEUE, null, 10).join().schedules()))
            .extracting(ScheduleSnapshot::state)
            .containsExactly(ScheduleValues.fresh());
        remove();
    }

    private void create() {
        assertThat(change(null, ScheduleValues.fresh())).isTrue();
    }

    private void remove() {
        assertThat(change(find(), null)).isTrue();
    }

    private Boolean change(@Nullable ScheduleState from, @Nullable ScheduleState to) {
        return this.store.change(QUEUE, new ScheduleChange(ScheduleValues.NAME, from, to, null, null)).join();
    }

    private @Nullable ScheduleState find() {
        return this.store.find(QUEUE, ScheduleValues.NAME).join().state();
    }

    /** Calls a script whose answer is lost, so that the client calls it again. */
    interface Repeater {

        <T> T repeated(String script, Supplier<T> call);

    }

}

package io.delayqueue.model;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import io.delayqueue.MessageLimits;
import io.delayqueue.MessageState;
import io.delayqueue.QueueName;
import io.delayqueue.StoredMessage;
import io.delayqueue.model.Answer.Code;
import io.delayqueue.model.Answer.Grant;
import io.delayqueue.model.Held.Letter;
import io.delayqueue.model.Held.Message;
import io.delayqueue.model.StoreModel.Outcome;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.DeadLetterReason;
import io.delayqueue.store.DueLease;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.Lease;
import io.delayqueue.store.MessageInspector;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionTarget;
import io.delayqueue.testing.ManualClock;
import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Does the same to a store and to {@link StoreModel}, call by call, and fails where they
 * differ: so what is shown of the model holds for the store. A tick is a second; delays
 * and leases are a little shorter than theirs, as what is due is rounded up.
 */
public final class Conformance {

    private static final Duration TICK = Duration.ofSeconds(1);

    private static final Duration SLACK = Duration.ofMillis(100);

    private final MessageStore store;

    private final MessageInspector inspector;

    private final ManualClock clock;

    private final Consumer<Boolean> twice;

    private final Partition queue;

    private final Map<Integer, DueLease> leases = new HashMap<>();

    private final List<String> trail = new ArrayList<>();

    private Held held = Held.NOTHING;

    private int contents;

    /**
     * Prepares a walk.
     * @param twice is told whether each call is to be made twice, as by a connection that
     * lost a reply
     * @param walk names the queue, which must be empty
     */
    public Conformance(MessageStore store, MessageInspector inspector, ManualClock clock, Consumer<Boolean> twice,
            int walk) {
        this.store = store;
        this.inspector = inspector;
        this.clock = clock;
        this.twice = twice;
        this.queue = Partition.first(new QueueName("walk" + walk));
    }

    /**
     * Takes so many steps at random.
     * @param replays whether calls are made twice now and then
     */
    public void walk(Random random, int steps, boolean replays) {
        for (int i = 0; i < steps; i++) {
            List<Call> calls = calls();
            int choice = random.nextInt(calls.size() + 2);
            if (choice >= calls.size()) {
                pass();
            }
            else {
                Call call = calls.get(choice);
                call(call, replays && call.op().isIdempotent() && random.nextInt(3) == 0);
            }
        }
    }

    /** Takes these steps, each by its place among those that are possible. */
    boolean take(int[] steps) {
        for (int step : steps) {
            List<Call> calls = calls();
            if (step > calls.size()) {
                return false;
            }
            if (step == calls.size()) {
                pass();
            }
            else {
                call(calls.get(step), false);
            }
        }
        return true;
    }

    /** All that can be called now, with the latest two leases. */
    private List<Call> calls() {
        List<Call> calls = new ArrayList<>(List.of(Call.claim(this.leases.size() + 1, Moves.LEASE),
                Call.send(Op.KEEP, this.contents + 1, Moves.DELAY),
                Call.send(Op.AFTER_CURRENT, this.contents + 1, Moves.DELAY),
                Call.send(Op.REPLACE, this.contents + 1, 0), Call.byId(Op.CANCEL, 0),
                Call.byId(Op.RESCHEDULE, Moves.DELAY)));
        for (int token = this.leases.size(); token > Math.max(0, this.leases.size() - 2); token--) {
            for (Op op : List.of(Op.START, Op.EXTEND, Op.ACKNOWLEDGE, Op.RETRY, Op.RELEASE)) {
                calls.add(Call.byLease(op, token, (op == Op.EXTEND) ? Moves.LEASE : Moves.DELAY));
            }
            calls.add(Call.byLease(Op.RELEASE, token, 0));
            calls.add(Call.deadLetter(token, true));
        }
        this.held.letters().stream().limit(2).map(Call::redrive).forEach(calls::add);
        return calls;
    }

    private void pass() {
        this.trail.add("time passes");
        this.clock.advance(TICK);
        this.held = this.held.later();
        look();
    }

    private void call(Call call, boolean again) {
        this.trail.add(call + (again ? " twice" : ""));
        this.clock.advance(Duration.ofMillis(1)); // no two leases of one microsecond
        this.contents += call.op().isSend() ? 1 : 0;
        Outcome outcome = StoreModel.SOUND.apply(this.held, call);
        if (again) {
            outcome = StoreModel.SOUND.apply(outcome.held(), call);
        }
        this.twice.accept(again);
        Answer answer = answer(call);
        this.twice.accept(false);
        assertThat(answer).as(this::told).isEqualTo(outcome.answer());
        this.held = outcome.held();
        look();
    }

    private String told() {
        return String.join(System.lineSeparator(), this.trail);
    }

    private Answer answer(Call call) {
        PartitionTarget home = PartitionTarget.first(this.queue.queue());
        Duration time = of(call.time());
        return switch (call.op()) {
            case KEEP, AFTER_CURRENT, REPLACE -> Answer
                .of(Code.valueOf(await(this.store.schedule(home, List.of(message(call)))).get(0).outcome().name()));
            case CANCEL -> Answer.of(Code.valueOf(await(this.store.cancel(home, "a")).name()));
            case RESCHEDULE ->
                Answer.of(Code.valueOf(await(this.store.reschedule(home, "a", DueTime.after(time))).name()));
            case REDRIVE -> Answer.of(Code.valueOf(await(this.store.redrive(home, lease(call).letterId())).name()));
            case CLAIM ->
                claimed(call, await(this.store.claim(this.queue, new ClaimRequest(1, time, ExpiryPolicy.DROP))));
            case START -> Answer.of(await(this.store.start(lease(call))));
            case EXTEND -> Answer.of(await(this.store.extend(this.queue, List.of(lease(call)), time)).get(0));
            case ACKNOWLEDGE -> Answer.of(await(this.store.acknowledge(this.queue, List.of(lease(call)))).get(0));
            case RETRY -> Answer.of(await(this.store.retry(lease(call), time, "failure")));
            case RELEASE -> Answer.of(await(time.isZero() ? this.store.release(this.queue, List.of(due(call)))
                    : this.store.release(this.queue, List.of(lease(call)), time))
                .get(0));
            case DEAD_LETTER -> Answer.of(await(this.store.deadLetter(lease(call),
                    new DeadLetterReason("cause", call.failed(), this.clock.now()))));
            case WRITE_LEASE -> throw new IllegalArgumentException(call.toString());
        };
    }

    private static NewMessage message(Call call) {
        return new NewMessage("a", false, DueTime.after(of(call.time())), call.op().onDuplicate(),
                MessageLimits.NORMAL_PRIORITY, null, null,
                "{\"payload\":%d}".formatted(call.content()).getBytes(StandardCharsets.UTF_8),
                (long) call.content() << Byte.SIZE);
    }

    private Lease lease(Call call) {
        return due(call).lease();
    }

    private DueLease due(Call call) {
        return this.leases.getOrDefault(call.token(), new DueLease(new Lease(this.queue, "a", "1"), this.clock.now()));
    }

    private Answer claimed(Call call, ClaimResult claim) {
        if (claim.messages().isEmpty()) {
            return Answer.of(Code.NOTHING);
        }
        ClaimedMessage message = claim.messages().get(0);
        this.leases.put(call.token(), message.dueLease());
        String envelope = new String(message.envelope(), StandardCharsets.UTF_8);
        return new Answer(Code.GOT, new Grant(call.token(), Integer.parseInt(envelope.replaceAll("\\D", "")),
                message.failures(), message.lapses(), message.suspect()));
    }

    /** Compares what there is to see. */
    private void look() {
        StoredMessage actual = await(this.inspector.find(PartitionTarget.first(this.queue.queue()), "a")).orElse(null);
        assertThat(seen(actual)).as(this::told).isEqualTo(seen(toBeSeen()));
        List<String> letters = await(this.inspector.deadLetters(this.queue, null, 100)).letters()
            .stream()
            .map((letter) -> letter.letterId() + " " + letter.failures() + " " + letter.lapses() + " "
                    + letter.payload())
            .toList();
        assertThat(letters).as(this::told)
            .containsExactlyInAnyOrderElementsOf(this.held.letters().stream().map(this::seen).toList());
    }

    /** Who only looks sees what a lease leaves, but a lapse counts when it is noticed. */
    private @Nullable Message toBeSeen() {
        Message message = this.held.message();
        Message left = StoreModel.SOUND.noticed(this.held).message();
        boolean same = message != null && left != null && left.sent().equals(message.sent());
        return same ? left.with(message.attempts()) : left;
    }

    private static String seen(@Nullable StoredMessage message) {
        return (message == null) ? "nothing"
                : "%s %s %d %d".formatted(message.payload(), message.state(), message.failures(), message.lapses());
    }

    private static String seen(@Nullable Message message) {
        return (message == null) ? "nothing"
                : "%d %s %d %d".formatted(message.sent().content(),
                        message.isLeased() ? MessageState.LEASED : MessageState.SCHEDULED,
                        message.attempts().failures(), message.attempts().lapses());
    }

    private String seen(Letter letter) {
        return "%s %d %d %d".formatted(lease(Call.byLease(Op.ACKNOWLEDGE, letter.token(), 0)).letterId(),
                letter.failures(), letter.lapses(), letter.content());
    }

    private static Duration of(int ticks) {
        return (ticks == 0) ? Duration.ZERO : TICK.multipliedBy(ticks).minus(SLACK);
    }

    private static <T> T await(CompletableFuture<T> answer) {
        return answer.join();
    }

}

package io.delayqueue.store;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.stream.IntStream;

import io.delayqueue.DeadLetter;
import io.delayqueue.DeadLetterPage;
import io.delayqueue.MessageLimits;
import io.delayqueue.OnDuplicate;
import io.delayqueue.QueueName;
import io.delayqueue.QueueStatistics;
import io.delayqueue.SendResult;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.admin.MessageSelection;
import io.delayqueue.testing.ManualClock;
import org.jspecify.annotations.Nullable;

/**
 * Does the same random transitions to two stores that share a clock, and fails at the
 * first answer in which they differ. Few ids, two workers that hold live and stale
 * leases, and a clock that moves by microseconds or beyond all leases reach states that
 * nobody thinks of.
 * <p>
 * What fails names its seed; {@code -Ddq.seed} walks that way again.
 */
public final class RandomTransitions {

    /** The queue of the walk. */
    public static final Partition QUEUE = Partition.first(new QueueName("random"));

    private static final List<String> IDS = List.of("a", "b", "c", "d", "e", "f", "g");

    private static final int WORKERS = 2;

    private static final int LEASES_REMEMBERED = 6;

    private static final int STEPS_TOLD = 25;

    private final long seed;

    private final Random random;

    private final ManualClock clock;

    private final Ports model;

    private final Ports other;

    private final Checks checks;

    private final List<Deque<DueLease>> workers = IntStream.range(0, WORKERS)
        .<Deque<DueLease>>mapToObj((worker) -> new ArrayDeque<>())
        .toList();

    private final Deque<String> trail = new ArrayDeque<>();

    private final Set<String> answers = new TreeSet<>();

    /**
     * Prepares a walk.
     * @param clock the time of both stores
     * @param model the store that is right if they differ
     */
    public RandomTransitions(long seed, ManualClock clock, Ports model, Ports other, Checks checks) {
        this.seed = seed;
        this.random = new Random(seed);
        this.clock = clock;
        this.model = model;
        this.other = other;
        this.checks = checks;
    }

    /** The seed that {@code -Ddq.seed} names, else any; says which. */
    public static long seed() {
        long seed = Long.getLong("dq.seed", System.nanoTime());
        System.out.println("Random transitions with -Ddq.seed=" + seed);
        return seed;
    }

    /** What both stores answered so far, as {@code operation answer}. */
    public Set<String> answers() {
        return Collections.unmodifiableSet(this.answers);
    }

    /** Does so many transitions. */
    public void walk(int steps) {
        for (int step = 0; step < steps; step++) {
            moveClock();
            transition();
            look();
            this.checks.afterStep().run();
        }
    }

    /** Ends all messages and dead letters. */
    public void drain() {
        this.clock.advance(Duration.ofDays(1_000));
        ClaimResult claim;
        do {
            claim = claim(MessageStore.BATCH_LIMIT, Duration.ofSeconds(30), ExpiryPolicy.DEAD_LETTER);
            List<Lease> leases = claim.messages().stream().map(ClaimedMessage::lease).toList();
            if (!leases.isEmpty()) {
                both("acknowledge " + leases, (ports) -> ports.store().acknowledge(QUEUE, leases));
            }
        }
        while (claim.nextAt() != null);
        while (both("purge all", (ports) -> ports.store().purgeOlderThan(QUEUE, Duration.ZERO)) > 0) {
            continue;
        }
        QueueStatistics left = look();
        check(left.scheduled() + left.leased() + left.dead() == 0, "something is left: " + left);
        this.checks.whenDrained().run();
    }

    /** By some microseconds at least, so that no two leases get one token by chance. */
    private void moveClock() {
        long millis = switch (this.random.nextInt(20)) {
            case 0 -> this.random.nextInt(300_000);
            case 1, 2 -> this.random.nextInt(20_000);
            case 3, 4, 5, 6, 7 -> this.random.nextInt(2_000);
            default -> this.random.nextInt(3);
        };
        this.clock.advance(Duration.ofNanos((millis * 1_000 + 1 + this.random.nextInt(1_500)) * 1_000));
    }

    private void transition() {
        int dice = this.random.nextInt(100);
        if (dice < 28) {
            send();
        }
        else if (dice < 34) {
            String id = anyOf(IDS);
            tell("cancel",
                    both("cancel " + id, (ports) -> ports.store().cancel(PartitionTarget.first(QUEUE.queue()), id)));
        }
        else if (dice < 40) {
            String id = anyOf(IDS);
            DueTime due = dueTime();
            tell("reschedule", both("reschedule " + id + " to " + due,
                    (ports) -> ports.store().reschedule(PartitionTarget.first(QUEUE.queue()), id, due)));
        }
        else if (dice < 60) {
            claim(1 + this.random.nextInt(6), span(30_000), anyOf(List.of(ExpiryPolicy.values())));
        }
        else if (dice < 92) {
            settle(dice);
        }
        else {
            administer(dice);
        }
    }

    private void send() {
        List<String> ids = new ArrayList<>(IDS);
        Collections.shuffle(ids, this.random);
        List<NewMessage> messages = ids.subList(0, 1 + this.random.nextInt(3)).stream().map(this::message).toList();
        List<String> told = messages.stream().map(RandomTransitions::describe).toList();
        both("send " + told,
                (ports) -> ports.store()
                    .schedule(PartitionTarget.first(QUEUE.queue()), messages)
                    .handle((results, failure) -> (failure == null) ? results : List.of(refusal(failure))))
            .forEach((result) -> tell("send", (result instanceof SendResult sent) ? sent.outcome() : "refused"));
    }

    /** What a store says of a replacement that would change the group of its id. */
    private static String refusal(Throwable failure) {
        Throwable cause = (failure instanceof CompletionException) ? failure.getCause() : failure;
        if (cause instanceof StoreRefusedException) {
            return cause.getMessage();
        }
        throw new CompletionException(cause);
    }

    /**
     * Mostly the same for one id: "a" and "b" have none, three share one, two another.
     */
    private @Nullable String groupOf(String id) {
        int one = (this.random.nextInt(20) == 0) ? this.random.nextInt(IDS.size()) : IDS.indexOf(id);
        return (one < 2) ? null : (one < 5) ? "g1" : "g2";
    }

    private NewMessage message(String id) {
        boolean plain = this.random.nextInt(3) > 0;
        int priority = plain ? MessageLimits.NORMAL_PRIORITY : this.random.nextInt(MessageLimits.MAX_PRIORITY + 1);
        Duration timeToLive = (this.random.nextInt(4) == 0) ? span(20_000) : null;
        return new NewMessage(id, false, dueTime(), anyOf(List.of(OnDuplicate.values())), priority, timeToLive,
                groupOf(id), StoreValues.envelope("content " + this.random.nextInt(1_000)));
    }

    private static String describe(NewMessage message) {
        return "%s %s due %s, priority %d, time to live %s, group %s".formatted(message.onDuplicate(), message.id(),
                message.due(), message.priority(), message.timeToLive(), message.group());
    }

    private DueTime dueTime() {
        if (this.random.nextInt(4) == 0) {
            return DueTime.at(this.clock.now().plusNanos(this.random.nextLong(20_000_000_000L) - 10_000_000_000L));
        }
        return DueTime.after(delay());
    }

    private Duration delay() {
        return (this.random.nextInt(3) == 0) ? Duration.ZERO : span(anyOf(List.of(20, 2_000, 40_000)));
    }

    /** Mostly not of whole milliseconds. */
    private Duration span(int atMostMillis) {
        return Duration.ofNanos(1 + this.random.nextLong(atMostMillis * 1_000_000L));
    }

    private ClaimResult claim(int limit, Duration leaseTime, ExpiryPolicy policy) {
        Duration usual = this.random.nextBoolean() ? leaseTime : span(40_000);
        ClaimResult claim = both("claim %d for %s, usually %s, %s".formatted(limit, leaseTime, usual, policy),
                (ports) -> ports.store().claim(QUEUE, new ClaimRequest(limit, leaseTime, policy, null, usual)));
        Deque<DueLease> held = anyOf(this.workers);
        claim.messages().forEach((message) -> {
            held.addFirst(message.dueLease());
            tell("claim", message.suspect() ? "a suspect" : "a message");
            tell("claim", (message.lapses() > 0) ? "lapses" : "no lapses");
        });
        while (held.size() > LEASES_REMEMBERED) {
            held.removeLast();
        }
        tell("claim", (claim.expired() > 0) ? "expired" : "none expired");
        return claim;
    }

    /** Ends or extends leases of one worker, live or not. */
    private void settle(int dice) {
        List<DueLease> held = new ArrayList<>(anyOf(this.workers));
        if (held.isEmpty()) {
            return;
        }
        Collections.shuffle(held, this.random);
        List<DueLease> due = List.copyOf(held.subList(0, 1 + this.random.nextInt(Math.min(3, held.size()))));
        List<Lease> some = due.stream().map(DueLease::lease).toList();
        Lease lease = some.get(0);
        Duration time = delay();
        String failure = "failure " + this.random.nextInt(3);
        DeadLetterReason death = new DeadLetterReason(failure, this.random.nextBoolean(), this.clock.now());
        if (dice < 68) {
            both("acknowledge " + some, (ports) -> ports.store().acknowledge(QUEUE, some))
                .forEach((done) -> tell("acknowledge", done));
        }
        else if (dice < 74) {
            tell("retry", both("retry " + lease + " in " + time, (ports) -> ports.store().retry(lease, time, failure)));
        }
        else if (dice < 77) {
            both("release " + some + " in " + time, (ports) -> ports.store().release(QUEUE, some, time))
                .forEach((done) -> tell("release", done));
        }
        else if (dice < 79) {
            both("release " + due, (ports) -> ports.store().release(QUEUE, due))
                .forEach((done) -> tell("give back", done));
        }
        else if (dice < 84) {
            both("extend " + some + " by " + time, (ports) -> ports.store().extend(QUEUE, some, time))
                .forEach((done) -> tell("extend", done));
        }
        else if (dice < 88) {
            tell("start", both("start " + lease, (ports) -> ports.store().start(lease)));
        }
        else {
            tell("deadLetter", both("deadLetter " + lease, (ports) -> ports.store().deadLetter(lease, death)));
        }
    }

    private void administer(int dice) {
        List<DeadLetter> letters = both("look", (ports) -> ports.inspector().deadLetters(QUEUE, null, 100)).letters();
        String letter = (letters.isEmpty() || this.random.nextInt(5) == 0) ? anyOf(IDS) + "~1"
                : anyOf(letters).letterId();
        if (dice < 97) {
            tell("redrive", both("redrive " + letter,
                    (ports) -> ports.store().redrive(PartitionTarget.first(QUEUE.queue()), letter)));
        }
        else if (dice < 99) {
            tell("purge", both("purge " + letter, (ports) -> ports.store().purge(QUEUE, letter)));
        }
        else {
            Duration age = span(200_000);
            tell("purgeOlderThan",
                    both("purge older than " + age, (ports) -> ports.store().purgeOlderThan(QUEUE, age)) > 0);
        }
    }

    /** Compares all that can be seen. */
    private QueueStatistics look() {
        for (String id : IDS) {
            answersOfBoth((ports) -> ports.inspector().find(PartitionTarget.first(QUEUE.queue()), id), "find " + id);
        }
        DeadLetterPage page = answersOfBoth((ports) -> ports.inspector().deadLetters(QUEUE, null, 2), "dead letters");
        if (page.nextCursor() != null) {
            answersOfBoth((ports) -> ports.inspector().deadLetters(QUEUE, page.nextCursor(), 100), "the other letters");
        }
        answersOfBoth((ports) -> ports.queues().counts(QUEUE), "counts");
        answersOfBoth((ports) -> ports.queues().horizon(QUEUE), "horizon");
        for (MessageSelection listing : MessageSelection.values()) {
            lookAt(listing);
        }
        return answersOfBoth((ports) -> ports.inspector().statistics(QUEUE), "statistics");
    }

    private void lookAt(MessageSelection listing) {
        List<ListedMessage> page = answersOfBoth((ports) -> ports.queues().messages(QUEUE, listing, null, 2),
                "the list of " + listing);
        if (page.size() == 2) {
            MessageCursor end = page.get(1).position();
            answersOfBoth((ports) -> ports.queues().messages(QUEUE, listing, end, 100), "the rest of " + listing);
        }
    }

    /** Does a transition to both stores. */
    private <T> T both(String description, Function<Ports, CompletableFuture<T>> call) {
        this.trail.addLast("%s  %s".formatted(this.clock.now(), description));
        if (this.trail.size() > STEPS_TOLD) {
            this.trail.removeFirst();
        }
        return answersOfBoth(call, "the last step");
    }

    private <T> T answersOfBoth(Function<Ports, CompletableFuture<T>> call, String question) {
        T expected = await(call.apply(this.model));
        T actual = await(call.apply(this.other));
        check(Objects.equals(comparable(expected), comparable(actual)), "they differ in %s%n  model: %s%n  other: %s"
            .formatted(question, comparable(expected), comparable(actual)));
        return expected;
    }

    /** An answer by whose parts it can be compared and told. */
    private static Object comparable(Object answer) {
        return (answer instanceof ClaimResult claim) ? List.of(claim.now(), Claimed.of(claim)) : answer;
    }

    private <T> T await(CompletableFuture<T> answer) {
        try {
            return answer.get(10, TimeUnit.SECONDS);
        }
        catch (ExecutionException | InterruptedException | TimeoutException ex) {
            throw new AssertionError(told("a store gave no answer"), ex);
        }
    }

    private void check(boolean met, String otherwise) {
        if (!met) {
            throw new AssertionError(told(otherwise));
        }
    }

    private String told(String what) {
        return "-Ddq.seed=%d: %s%nThe last steps:%n  %s".formatted(this.seed, what,
                String.join(System.lineSeparator() + "  ", this.trail));
    }

    private void tell(String operation, Object answer) {
        this.answers.add(operation + " " + answer);
    }

    private <T> T anyOf(Collection<T> values) {
        return List.copyOf(values).get(this.random.nextInt(values.size()));
    }

    /**
     * One of the two stores.
     *
     * @param store the store
     * @param inspector looks at it
     * @param queues looks at it as a whole
     */
    public record Ports(MessageStore store, MessageInspector inspector, QueueInspector queues) {
    }

    /**
     * What a walk asks besides.
     *
     * @param afterStep fails if a store is not as it should be between two transitions
     * @param whenDrained fails if a store holds anything
     */
    public record Checks(Runnable afterStep, Runnable whenDrained) {

        /** Nothing. */
        public static final Checks NONE = new Checks(() -> {
        }, () -> {
        });

    }

}

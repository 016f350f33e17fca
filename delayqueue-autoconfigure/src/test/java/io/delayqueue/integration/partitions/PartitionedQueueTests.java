package io.delayqueue.integration.partitions;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.delayqueue.CancelResult;
import io.delayqueue.DeadLetter;
import io.delayqueue.DeadLetterPage;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedMessage;
import io.delayqueue.MisfirePolicy;
import io.delayqueue.OnDuplicate;
import io.delayqueue.ReceivedMessage;
import io.delayqueue.RedriveResult;
import io.delayqueue.RescheduleResult;
import io.delayqueue.ScheduleDefinition;
import io.delayqueue.ScheduleOperations;
import io.delayqueue.ScheduleStatus;
import io.delayqueue.SendOutcome;
import io.delayqueue.fixtures.LogCount;
import io.delayqueue.fixtures.application.Application;
import io.delayqueue.fixtures.application.Applications;
import io.delayqueue.fixtures.application.OrderHandler;
import io.delayqueue.fixtures.application.OrderHandler.Order;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** Every operation on a queue that is spread over four partitions, on a real Redis. */
@ExtendWith(OutputCaptureExtension.class)
@Tag("server")
class PartitionedQueueTests {

    private static final String QUEUE = OrderHandler.QUEUE;

    private static final String FOUR = "delayqueue.queues." + QUEUE + ".partitions=4";

    private static final Duration FAR = Duration.ofHours(1);

    private final RedisServer redis = RedisServer.shared(RedisBinary.preferred());

    @RegisterExtension
    final Applications applications = new Applications().examined();

    private DelayQueueOperations sender(String... properties) {
        return this.applications.withoutHandler(this.redis, properties).queue();
    }

    private static DelayedMessage message(int number, Duration delay) {
        return DelayedMessage.builder(QUEUE, new Order(number)).id("order-" + number).delay(delay).build();
    }

    private static List<DelayedMessage> messages(int count, Duration delay) {
        return IntStream.range(0, count).mapToObj((number) -> message(number, delay)).toList();
    }

    /** The partitions that hold messages. */
    private Set<String> used() {
        Set<String> used = new TreeSet<>();
        this.redis.commands()
            .keys(this.applications.namespace() + ":*:messages")
            .forEach((key) -> used.add(key.substring(key.indexOf('{'), key.indexOf('}') + 1)));
        return used;
    }

    /** P10: of a queue that was spread its settings stay, and nothing else. */
    private void assertOnlySettingsLeft() {
        Applications.await(() -> assertThat(this.applications.keys(this.redis))
            .allMatch((key) -> key.endsWith(":partitions") || key.endsWith(":primary")));
    }

    @Test
    void messagesAreDistributedAndAllAreHandledOnce() throws InterruptedException {
        Application application = this.applications.withHandler(this.redis, FOUR, Applications.NO_SAFETY_POLL);
        BlockingQueue<Integer> handled = new LinkedBlockingQueue<>();
        application.handler().does((order, delivery) -> handled.add(order.number()));

        application.queue().sendAll(messages(200, FAR));

        assertThat(used()).containsExactly("{orders:1}", "{orders:2}", "{orders:3}", "{orders}");
        for (int number = 0; number < 200; number++) {
            assertThat(application.queue().reschedule(QUEUE, "order-" + number, Duration.ofMillis(number % 7)))
                .isEqualTo(RescheduleResult.RESCHEDULED);
        }
        application.queue().send(QUEUE, new Order(200), Duration.ZERO);
        Applications.await(() -> assertThat(handled).hasSizeGreaterThanOrEqualTo(201));
        assertOnlySettingsLeft();
        assertThat(handled).hasSize(201).doesNotHaveDuplicates();
    }

    @Test
    void anIdIsFoundWhereverItIs() {
        DelayQueueOperations queue = sender(FOUR);
        queue.sendAll(messages(20, FAR));

        for (int number = 0; number < 20; number++) {
            String id = "order-" + number;
            assertThat(queue.send(message(number, FAR)).outcome()).isEqualTo(SendOutcome.KEPT);
            assertThat(queue.find(QUEUE, id)).isPresent();
            assertThat(queue.reschedule(QUEUE, id, FAR)).isEqualTo(RescheduleResult.RESCHEDULED);
            assertThat(queue.cancel(QUEUE, id)).isEqualTo(CancelResult.CANCELLED);
            assertThat(queue.cancel(QUEUE, id)).isEqualTo(CancelResult.NOT_FOUND);
            assertThat(queue.find(QUEUE, id)).isEmpty();
        }
        assertThat(queue.reschedule(QUEUE, "other", FAR)).isEqualTo(RescheduleResult.NOT_FOUND);
        assertOnlySettingsLeft();
    }

    @Test
    void statisticsAreThoseOfAllPartitions() {
        DelayQueueOperations queue = sender(FOUR);
        queue.sendAll(messages(20, FAR));
        queue.send(message(20, FAR.dividedBy(2)));
        queue.sendAll(IntStream.range(30, 35).mapToObj((number) -> message(number, Duration.ZERO)).toList());
        ReceivedMessage leased = queue.receive(QUEUE, Duration.ofSeconds(10)).orElseThrow();
        ReceivedMessage dead = queue.receive(QUEUE, Duration.ofSeconds(10)).orElseThrow();
        dead.deadLetter("why not");

        assertThat(queue.statistics(QUEUE)).satisfies((statistics) -> {
            assertThat(statistics.scheduled()).isEqualTo(24);
            assertThat(statistics.due()).isEqualTo(3);
            assertThat(statistics.leased()).isOne();
            assertThat(statistics.dead()).isOne();
            assertThat(statistics.nextDueAt()).isBeforeOrEqualTo(queue.find(QUEUE, "order-20").orElseThrow().dueAt());
        });
        assertThat(leased.acknowledge()).isTrue();
    }

    @Test
    void receiveTakesFromEveryPartitionAndIsWokenByEach() {
        DelayQueueOperations queue = sender(FOUR, Applications.NO_SAFETY_POLL);
        queue.sendAll(messages(20, Duration.ZERO));
        Set<String> received = new HashSet<>();
        for (int i = 0; i < 20; i++) {
            ReceivedMessage message = queue.receive(QUEUE, Duration.ZERO).orElseThrow();
            received.add(message.id());
            assertThat(message.acknowledge()).isTrue();
        }
        assertThat(received).hasSize(20);
        assertThat(queue.receive(QUEUE, Duration.ZERO)).isEmpty();

        for (int number = 0; number < 8; number++) {
            // Due only after the wait has begun, in any partition.
            queue.send(message(number, Duration.ofMillis(200)));
            Optional<ReceivedMessage> message = queue.receive(QUEUE, Applications.TIMEOUT);
            assertThat(message).isPresent();
            assertThat(message.get().acknowledge()).isTrue();
        }
        assertOnlySettingsLeft();
    }

    @Test
    void deadLettersOfAllPartitionsAreListedRedrivenAndPurged() {
        DelayQueueOperations queue = sender(FOUR);
        queue.sendAll(messages(20, Duration.ZERO));
        for (int i = 0; i < 20; i++) {
            queue.receive(QUEUE, Duration.ZERO).orElseThrow().deadLetter("why not");
        }

        List<DeadLetter> deadLetters = new ArrayList<>();
        String cursor = null;
        do {
            DeadLetterPage page = queue.deadLetters(QUEUE).list(cursor, 3);
            deadLetters.addAll(page.deadLetters());
            cursor = page.nextCursor();
        }
        while (cursor != null);
        assertThat(deadLetters).extracting(DeadLetter::messageId).hasSize(20).doesNotHaveDuplicates();
        assertThat(deadLetters).extracting(DeadLetter::deadLetteredAt)
            .isSortedAccordingTo((one, other) -> other.compareTo(one));

        assertThat(deadLetters).allSatisfy(
                (deadLetter) -> assertThat(queue.deadLetters(QUEUE).find(deadLetter.id())).contains(deadLetter));
        assertThat(queue.deadLetters(QUEUE).find("none")).isEmpty();

        assertThat(queue.deadLetters(QUEUE).redrive(deadLetters.get(0).id())).isEqualTo(RedriveResult.REDRIVEN);
        assertThat(queue.find(QUEUE, deadLetters.get(0).messageId())).isPresent();
        assertThat(queue.deadLetters(QUEUE).purge(deadLetters.get(1).id())).isTrue();
        assertThat(queue.deadLetters(QUEUE).purge(deadLetters.get(1).id())).isFalse();
        assertThat(queue.deadLetters(QUEUE).redrive("none")).isEqualTo(RedriveResult.NOT_FOUND);
        queue.send(message(Integer.parseInt(deadLetters.get(2).messageId().substring(6)), FAR));
        assertThat(queue.deadLetters(QUEUE).redrive(deadLetters.get(2).id())).isEqualTo(RedriveResult.ID_IN_USE);
        assertThat(queue.deadLetters(QUEUE).redriveAll()).isEqualTo(17);
        assertThat(queue.deadLetters(QUEUE).purgeAll()).isOne();
        assertThat(queue.statistics(QUEUE).dead()).isZero();
    }

    @Test
    void anIdIsAdmittedOnceThoughItsPartitionHasChanged() {
        DelayQueueOperations queue = sender();
        DelayQueueOperations other = sender();
        queue.sendAll(messages(40, FAR));
        other.send(message(40, FAR)); // knows of one partition

        assertThat(queue.repartition(QUEUE, 4)).isOne();
        assertThat(queue.repartition(QUEUE, 4)).isEqualTo(4);

        for (DelayQueueOperations sender : List.of(other, queue, sender(FOUR))) {
            assertThat(sender.sendAll(messages(41, FAR))).extracting((result) -> result.outcome())
                .containsOnly(SendOutcome.KEPT);
        }
        DelayedMessage replacement = message(7, Duration.ofMinutes(5)).toBuilder()
            .onDuplicate(OnDuplicate.REPLACE)
            .build();
        assertThat(other.send(replacement).outcome()).isEqualTo(SendOutcome.REPLACED);
        assertThat(used()).containsExactly("{orders}");
        queue.sendAll(IntStream.range(100, 140).mapToObj((number) -> message(number, FAR)).toList());
        assertThat(used()).hasSize(4);
        assertThat(queue.statistics(QUEUE).scheduled()).isEqualTo(81);
        for (int number = 0; number < 41; number++) {
            assertThat(other.cancel(QUEUE, "order-" + number)).isEqualTo(CancelResult.CANCELLED);
        }
    }

    @Test
    void aSenderWithAnOldLayoutFindsMessages() {
        DelayQueueOperations stale = sender();
        DelayQueueOperations queue = sender();
        stale.find(QUEUE, "none");
        queue.repartition(QUEUE, 8);
        queue.sendAll(messages(30, FAR));

        assertThat(stale.find(QUEUE, "order-3")).isPresent();
        DelayQueueOperations cancels = sender();
        for (int number = 0; number < 30; number++) {
            assertThat(cancels.cancel(QUEUE, "order-" + number)).isEqualTo(CancelResult.CANCELLED);
        }
        assertOnlySettingsLeft();
    }

    @Test
    void aWorkerThatRunsHandlesWhatComesToNewPartitions() throws InterruptedException {
        Application application = this.applications.withHandler(this.redis, Applications.NO_SAFETY_POLL);
        DelayQueueOperations queue = sender();
        queue.send(message(1, Duration.ZERO));
        assertThat(application.handler().next().number()).isOne();

        queue.repartition(QUEUE, 8);
        queue.sendAll(IntStream.range(10, 60).mapToObj((number) -> message(number, Duration.ZERO)).toList());

        Set<Integer> handled = new HashSet<>();
        for (int i = 0; i < 50; i++) {
            handled.add(application.handler().next().number());
        }
        assertThat(handled).hasSize(50);
        assertOnlySettingsLeft();
        assertThat(application.handler().rest()).isEmpty();
    }

    @Test
    void nodesThatAreConfiguredOtherwiseWarnOnceAndWork(CapturedOutput output) throws InterruptedException {
        Application one = this.applications.withHandler(this.redis, FOUR, Applications.NO_SAFETY_POLL);
        one.queue().send(message(0, FAR));
        Application other = this.applications.withHandler(this.redis, "delayqueue.queues." + QUEUE + ".partitions=2",
                Applications.NO_SAFETY_POLL);
        Set<Integer> handled = ConcurrentHashMap.newKeySet();
        one.handler().does((order, delivery) -> handled.add(order.number()));
        other.handler().does((order, delivery) -> handled.add(order.number()));

        other.queue().sendAll(IntStream.range(1, 60).mapToObj((number) -> message(number, Duration.ZERO)).toList());

        Applications.await(() -> assertThat(handled).hasSize(59));
        assertThat(this.redis.commands().get(this.applications.namespace() + ":{orders}:partitions")).isEqualTo("1|4");
        assertThat(other.queue().find(QUEUE, "order-0")).isPresent();
        assertThat(LogCount.of(output, "WARN", "has 4 partitions", "and not 2", "repartition")).isOne();
        assertThat(one.queue().cancel(QUEUE, "order-0")).isEqualTo(CancelResult.CANCELLED);
        assertOnlySettingsLeft();
    }

    @Test
    void shrinkingDrains() throws InterruptedException {
        DelayQueueOperations queue = sender(FOUR);
        queue.sendAll(messages(40, Duration.ZERO));
        assertThat(queue.repartition(QUEUE, 1)).isEqualTo(4);
        queue.sendAll(IntStream.range(100, 140).mapToObj((number) -> message(number, Duration.ZERO)).toList());

        Application application = this.applications.withHandler(this.redis, Applications.NO_SAFETY_POLL);

        Set<Integer> handled = new HashSet<>();
        for (int i = 0; i < 80; i++) {
            handled.add(application.handler().next().number());
        }
        assertThat(handled).hasSize(80);
        assertOnlySettingsLeft();
        assertThat(application.handler().rest()).isEmpty();
    }

    /** P1, P4: a change of the partitions neither loses nor doubles an occurrence. */
    @Test
    void schedulesStayInTheFirstPartition() {
        Application application = this.applications.withHandler(this.redis, FOUR, Applications.NO_SAFETY_POLL);
        Queue<Instant> handled = new ConcurrentLinkedQueue<>();
        application.handler().does((order, delivery) -> handled.add(delivery.dueAt()));
        Duration rate = Duration.ofMillis(200);
        ScheduleOperations schedules = application.queue().schedules(QUEUE);
        schedules.put(ScheduleDefinition.fixedRate("tick", rate)
            .payload(new Order(1))
            .misfire(MisfirePolicy.ALL)
            .catchUpLimit(1_000)
            .build());
        Instant first = schedules.find("tick").orElseThrow().nextAt();

        for (int partitions : List.of(8, 1)) {
            application.queue().repartition(QUEUE, partitions);
            int before = handled.size();
            Applications.await(() -> assertThat(handled).hasSizeGreaterThan(before + 2));
            assertThat(this.applications.keys(this.redis)).filteredOn((key) -> key.contains(":schedule"))
                .isNotEmpty()
                .allMatch((key) -> key.contains("{orders}"));
        }

        schedules.pause("tick");
        ScheduleStatus status = schedules.find("tick").orElseThrow();
        Applications.await(() -> assertThat(handled).containsExactlyInAnyOrderElementsOf(
                Stream.iterate(first, (time) -> !time.isAfter(status.lastAt()), (time) -> time.plus(rate)).toList()));
        schedules.remove("tick");
        assertOnlySettingsLeft();
    }

    @Test
    void manyAreSteeredAtOnce() {
        DelayQueueOperations queue = sender(FOUR);
        queue.sendAll(messages(1_000, FAR));
        List<String> ids = IntStream.range(0, 1_000).mapToObj((number) -> "order-" + number).toList();

        assertThat(queue.rescheduleAll(QUEUE, ids, Duration.ZERO)).hasSize(1_000)
            .allSatisfy((id, result) -> assertThat(result).isEqualTo(RescheduleResult.RESCHEDULED));
        assertThat(queue.statistics(QUEUE).due()).isEqualTo(1_000);
        assertThat(queue.cancelAll(QUEUE, List.of("order-7", "none", "order-7", "order-8"))).containsExactly(
                Map.entry("order-7", CancelResult.CANCELLED), Map.entry("none", CancelResult.NOT_FOUND),
                Map.entry("order-8", CancelResult.CANCELLED));
        assertThatIllegalArgumentException().isThrownBy(() -> queue.cancelAll(QUEUE, List.of("order-1", "a b")));
        List<String> tooMany = IntStream.range(0, 1_001).mapToObj((number) -> "order-" + number).toList();
        assertThatIllegalArgumentException().isThrownBy(() -> queue.cancelAll(QUEUE, tooMany));
        assertThat(queue.statistics(QUEUE).scheduled()).isEqualTo(998);
        assertThat(queue.cancelAll(QUEUE, ids)).hasSize(1_000);
        assertOnlySettingsLeft();
    }

}

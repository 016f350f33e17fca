package io.delayqueue.store;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import io.delayqueue.MessageLimits;
import io.delayqueue.QueueName;
import io.delayqueue.fixtures.model.Call;
import io.delayqueue.fixtures.model.Linearization;
import io.delayqueue.fixtures.model.Linearization.Event;
import io.delayqueue.fixtures.model.ModelReply;
import io.delayqueue.fixtures.model.ModelReply.Code;
import io.delayqueue.fixtures.model.ModelReply.Grant;
import io.delayqueue.fixtures.model.Operation;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.memory.InMemoryMessageStore;
import io.delayqueue.memory.MicrosClock;
import io.delayqueue.redis.RedisMessageStore;
import io.delayqueue.redis.RedisScriptExecutor;
import io.delayqueue.store.envelope.EnvelopeCodec;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * P5, P7, P8, P11: checks that the answers to threads that call every operation on a few
 * ids concurrently are explained by one order of the calls. Some threads lose some of
 * their answers. Leases are long and delays none or long, so that no time passes
 * meanwhile; an empty claim proves nothing, as a message is due by the next millisecond.
 */
@Tag("server")
class LinearizabilityTests {

    private static final int THREADS = 5;

    private static final int CALLS = 14;

    private static final int IDS = 3;

    private static final List<Operation> SENDS = List.of(Operation.KEEP, Operation.AFTER_CURRENT, Operation.REPLACE);

    private static final Duration LONG = Duration.ofHours(1);

    private static final Duration TIME = Duration.ofSeconds(Integer.getInteger("dq.model.seconds", 2));

    private final long seed = Long.getLong("dq.seed", System.nanoTime());

    @Test
    void threadsOfOneRedisAgreeOnAnOrder() throws Exception {
        RedisServer server = RedisServer.shared(RedisBinary.preferred());
        LettuceConnectionFactory factory = new LettuceConnectionFactory(
                new RedisStandaloneConfiguration(server.host(), server.port()));
        factory.afterPropertiesSet();
        factory.start();
        try (RedisScriptExecutor redis = RedisScriptExecutor.to(factory, "linear-" + UUID.randomUUID(),
                Duration.ofSeconds(30))) {
            checkRounds(new RedisMessageStore(redis));
        }
        finally {
            factory.destroy();
        }
    }

    @Test
    void threadsOfTheStoreInMemoryAgreeOnAnOrder() throws Exception {
        checkRounds(new InMemoryMessageStore(new EnvelopeCodec(JsonMapper.builder().build()), new MicrosClock()));
    }

    private void checkRounds(MessageStore store) throws Exception {
        Random seeds = new Random(this.seed);
        long end = System.nanoTime() + TIME.toNanos();
        int rounds = 0;
        int events = 0;
        while (rounds == 0 || System.nanoTime() < end) {
            Round round = new Round(store, Partition.first(new QueueName("round" + rounds)));
            round.run(seeds);
            for (int id = 0; id < IDS; id++) {
                List<Event> history = round.historyOf("id" + id);
                events += history.size();
                assertThat(Linearization.exists(history))
                    .as("-Ddq.seed=%d, round %d: no order of%n%s", this.seed, rounds, describe(history))
                    .isTrue();
            }
            rounds++;
        }
        System.out.printf("%d rounds, %d calls of one id, -Ddq.seed=%d%n", rounds, events, this.seed);
    }

    private static String describe(List<Event> history) {
        StringBuilder text = new StringBuilder();
        history.forEach((event) -> text.append(event).append(System.lineSeparator()));
        return text.toString();
    }

    /** Records a call of a thread and its answer; the token is that of the store. */
    private record Heard(String id, long start, long end, Call call, String token, @Nullable ModelReply answer) {
    }

    /** Some threads and an empty queue. */
    private static final class Round {

        private final MessageStore store;

        private final Partition queue;

        private final PartitionTarget target;

        private final Queue<Heard> heard = new ConcurrentLinkedQueue<>();

        /** The leases that a thread received: other threads try to use them too. */
        private final Queue<Lease> leases = new ConcurrentLinkedQueue<>();

        private final AtomicInteger contents = new AtomicInteger();

        Round(MessageStore store, Partition queue) {
            this.store = store;
            this.queue = queue;
            this.target = PartitionTarget.first(queue.queue());
        }

        void run(Random seeds) throws Exception {
            ExecutorService threads = Executors.newFixedThreadPool(THREADS);
            CountDownLatch go = new CountDownLatch(1);
            try {
                List<Future<?>> actors = new ArrayList<>();
                for (int i = 0; i < THREADS; i++) {
                    Random random = new Random(seeds.nextLong());
                    actors.add(threads.submit(() -> {
                        go.await();
                        for (int call = 0; call < CALLS; call++) {
                            call(random);
                        }
                        return null;
                    }));
                }
                go.countDown();
                for (Future<?> actor : actors) {
                    actor.get(1, TimeUnit.MINUTES);
                }
            }
            finally {
                threads.shutdownNow();
            }
        }

        private void call(Random random) {
            String id = "id" + random.nextInt(IDS);
            int time = random.nextInt(4) == 0 ? 1 : 0;
            int dice = random.nextInt(20);
            List<Lease> known = List.copyOf(this.leases);
            if (dice < 5) {
                send(id, SENDS.get(random.nextInt(SENDS.size())), time, random);
            }
            else if (dice < 7) {
                note(random, id, "", Call.byId(Operation.CANCEL, 0),
                        () -> ModelReply.of(Code.valueOf(this.store.cancel(this.target, id).join().name())));
            }
            else if (dice < 8) {
                note(random, id, "", Call.byId(Operation.RESCHEDULE, time), () -> ModelReply
                    .of(Code.valueOf(this.store.reschedule(this.target, id, DueTime.after(of(time))).join().name())));
            }
            else if (dice < 13 || known.isEmpty()) {
                claim(random);
            }
            else {
                settle(known.get(Math.max(0, known.size() - 1 - random.nextInt(4))), random, time);
            }
        }

        private void send(String id, Operation op, int time, Random random) {
            int content = this.contents.incrementAndGet();
            NewMessage message = new NewMessage(id, false, DueTime.after(of(time)), op.onDuplicate(),
                    MessageLimits.NORMAL_PRIORITY, null, null,
                    "{\"payload\":%d}".formatted(content).getBytes(StandardCharsets.UTF_8));
            note(random, id, "", Call.send(op, content, time), () -> ModelReply
                .of(Code.valueOf(this.store.schedule(this.target, List.of(message)).join().get(0).outcome().name())));
        }

        private void claim(Random random) {
            long start = System.nanoTime();
            List<ClaimedMessage> got = this.store.claim(this.queue, new ClaimRequest(1, LONG, ExpiryPolicy.DROP))
                .join()
                .messages();
            long end = System.nanoTime();
            for (ClaimedMessage message : got) {
                boolean lost = random.nextInt(10) == 0;
                Lease lease = message.lease();
                String envelope = new String(message.envelope(), StandardCharsets.UTF_8);
                ModelReply answer = new ModelReply(Code.GOT,
                        new Grant(0, Integer.parseInt(envelope.replaceAll("\\D", "")), message.failures(),
                                message.lapses(), message.redelivered()));
                this.heard.add(new Heard(lease.id(), start, lost ? Long.MAX_VALUE : end, Call.claim(0, 1),
                        lease.token(), lost ? null : answer));
                if (!lost) {
                    this.leases.add(lease);
                }
            }
        }

        private void settle(Lease lease, Random random, int time) {
            Operation op = List
                .of(Operation.START, Operation.EXTEND, Operation.ACKNOWLEDGE, Operation.ACKNOWLEDGE, Operation.RETRY,
                        Operation.RELEASE, Operation.DEAD_LETTER)
                .get(random.nextInt(7));
            Call call = (op == Operation.DEAD_LETTER) ? Call.deadLetter(0, true)
                    : Call.byLease(op, 0, (op == Operation.EXTEND) ? 1 : time);
            note(random, lease.id(), lease.token(), call, () -> ModelReply.of(switch (op) {
                case START -> this.store.start(lease).join();
                case EXTEND -> this.store.extend(this.queue, List.of(lease), LONG).join().get(0);
                case ACKNOWLEDGE -> this.store.acknowledge(this.queue, List.of(lease)).join().get(0);
                case RETRY -> this.store.retry(lease, of(time), "failure").join();
                case RELEASE -> release(lease, time).join().get(0);
                default -> this.store.deadLetter(lease, new DeadLetterRequest("cause", true, Instant.EPOCH)).join();
            }));
        }

        private CompletableFuture<List<Boolean>> release(Lease lease, int time) {
            return (time == 0) ? this.store.release(this.queue, List.of(new UnstartedLease(lease, Instant.EPOCH)))
                    : this.store.release(this.queue, List.of(lease), LONG);
        }

        /** Makes a call, whose answer sometimes is not heard. */
        private void note(Random random, String id, String token, Call call, Supplier<ModelReply> made) {
            long start = System.nanoTime();
            ModelReply answer = made.get();
            long end = System.nanoTime();
            boolean lost = random.nextInt(10) == 0;
            this.heard.add(new Heard(id, start, lost ? Long.MAX_VALUE : end, call, token, lost ? null : answer));
        }

        /** The calls of one id, its tokens numbered. */
        List<Event> historyOf(String id) {
            Map<String, Integer> numbers = new HashMap<>(Map.of("", 0));
            List<Heard> mine = this.heard.stream().filter((each) -> each.id.equals(id)).toList();
            mine.stream()
                .map(Heard::token)
                .filter((token) -> !token.isEmpty())
                .map(Long::valueOf)
                .sorted()
                .distinct()
                .forEach((token) -> numbers.put(Long.toString(token), numbers.size()));
            return mine.stream().map((each) -> {
                int token = numbers.getOrDefault(each.token, 0);
                ModelReply answer = each.answer;
                Grant grant = (answer != null) ? answer.grant() : null;
                return new Event(each.start, each.end, each.call.withToken(token), (answer != null && grant != null)
                        ? new ModelReply(answer.code(), grant.withToken(token)) : answer);
            }).toList();
        }

        private static Duration of(int time) {
            return (time == 0) ? Duration.ZERO : LONG;
        }

    }

}

package io.delayqueue.benchmarks.contender;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntConsumer;

/** Sends to a contender in the ways that are measured. Threads: one call at a time. */
final class Load {

    private final Contender contender;

    private final List<String> queues;

    Load(Contender contender, List<String> queues) {
        this.contender = contender;
        this.queues = queues;
    }

    /**
     * Each thread sends one message after the other.
     * @return nanoseconds that it took
     */
    long closed(Request request) throws InterruptedException {
        int count = request.count("count");
        int threads = request.count("threads");
        Messages messages = Messages.of(request);
        long start = System.nanoTime();
        inThreads(threads, (thread) -> {
            for (int number = thread; number < count; number += threads) {
                sendOne(messages, number);
            }
        });
        return System.nanoTime() - start;
    }

    /**
     * Sends as {@link #closed} for a time, messages that are not to be handled.
     * @return how many were sent, and nanoseconds that it took
     */
    Answer warmUp(Request request) throws InterruptedException {
        long limit = TimeUnit.MILLISECONDS.toNanos(request.number("millis"));
        Messages messages = Messages.of(request);
        AtomicInteger sent = new AtomicInteger();
        long start = System.nanoTime();
        inThreads(request.count("threads"), (thread) -> {
            while (System.nanoTime() - start < limit) {
                sendOne(messages, -1 - sent.getAndIncrement());
            }
        });
        return new Answer().with("sent", sent.get()).with("nanos", System.nanoTime() - start);
    }

    /**
     * Sends at a mean rate, whatever the answers do: a thread that is late sends at once.
     * The times between two messages are those of independent senders, exponentially
     * distributed: an even rate would keep one phase to the milliseconds of due times for
     * a whole run. They are the same in each run.
     * @return nanoseconds that it took
     */
    long paced(Request request) throws InterruptedException {
        int threads = request.count("threads");
        Messages messages = Messages.of(request);
        long[] times = arrivals(request.count("count"), Double.parseDouble(request.text("rate")));
        long start = System.nanoTime();
        inThreads(threads, (thread) -> {
            for (int number = thread; number < times.length; number += threads) {
                sleepUntil(start + times[number]);
                sendOne(messages, number);
            }
        });
        return System.nanoTime() - start;
    }

    /** Returns random times of messages, in nanoseconds since the first. */
    static long[] arrivals(int count, double perSecond) {
        Random random = new Random(count);
        long[] times = new long[count];
        double at = 0;
        for (int i = 0; i < count; i++) {
            times[i] = (long) at;
            at -= Math.log(1 - random.nextDouble()) * 1e9 / perSecond;
        }
        return times;
    }

    /**
     * Sends in bulk, in chunks. Due times are even or random between two instants.
     * @return nanoseconds that it took
     */
    long bulk(Request request) {
        long count = request.number("count");
        long first = request.number("first", 0);
        int chunk = (int) request.number("chunk", 10_000);
        long nanos = 0;
        for (long done = 0; done < count; done += chunk) {
            int size = (int) Math.min(chunk, count - done);
            List<Work> works = new ArrayList<>(size);
            for (int i = 0; i < size; i++) {
                works.add(work(request, first, done + i));
            }
            String queue = this.queues.get((int) ((done / chunk) % this.queues.size()));
            long start = System.nanoTime();
            this.contender.sendAll(queue, works);
            nanos += System.nanoTime() - start;
        }
        return nanos;
    }

    /** One call by number after the other, of random messages, each at most once. */
    Answer byNumber(Request request) {
        String queue = this.queues.get(0);
        long first = request.number("first");
        long step = request.number("step");
        int count = request.count("count");
        String call = request.text("call");
        long hits = 0;
        long start = System.nanoTime();
        for (int i = 0; i < count; i++) {
            long number = first + i * step;
            boolean hit = switch (call) {
                case "cancel" -> this.contender.cancel(queue, number);
                case "reschedule" -> this.contender.reschedule(queue, number, Duration.ofHours(2).plusSeconds(i));
                case "find" -> this.contender.find(queue, number);
                default -> throw new IllegalArgumentException(call);
            };
            hits += hit ? 1 : 0;
        }
        return new Answer().with("nanos", System.nanoTime() - start).with("hits", hits);
    }

    private void sendOne(Messages messages, int number) {
        long millis = messages.delayMillis();
        Work work = Work.of(number, Wall.micros() + millis * 1000, messages.bytes());
        this.contender.send(this.queues.get(Math.floorMod(number, this.queues.size())), work,
                Duration.ofMillis(millis));
    }

    /**
     * Returns a message; one of the backlog that is not to be handled has a negative
     * number.
     */
    private static Work work(Request request, long first, long index) {
        long from = request.number("dueFrom");
        long to = request.number("dueTo", from);
        long millis = from;
        if (to > from) {
            millis = request.text("spread", "random").equals("even")
                    ? from + (to - from) * index / request.number("count")
                    : ThreadLocalRandom.current().nextLong(from, to);
        }
        long number = first + index;
        return Work.of(request.text("tracked", "yes").equals("no") ? -1 - number : number, millis * 1000,
                request.count("bytes"));
    }

    private static void sleepUntil(long nanos) {
        for (long wait = nanos - System.nanoTime(); wait > 0; wait = nanos - System.nanoTime()) {
            // Real time: the rate of the load.
            LockSupport.parkNanos(wait);
        }
    }

    private static void inThreads(int threads, IntConsumer part) throws InterruptedException {
        if (threads == 1) {
            part.accept(0);
            return;
        }
        ExecutorService executor = Executors.newFixedThreadPool(threads);
        try {
            List<Callable<Object>> parts = new ArrayList<>();
            for (int thread = 0; thread < threads; thread++) {
                int number = thread;
                parts.add(Executors.callable(() -> part.accept(number)));
            }
            for (Future<Object> future : executor.invokeAll(parts)) {
                future.get();
            }
        }
        catch (ExecutionException ex) {
            throw new IllegalStateException("A send failed", ex);
        }
        finally {
            executor.shutdown();
        }
    }

    /** What is sent: payloads of a size, with delays from a range. */
    private record Messages(int bytes, long minMillis, long maxMillis) {

        static Messages of(Request request) {
            long min = request.number("delayMin");
            return new Messages(request.count("bytes"), min, request.number("delayMax", min));
        }

        long delayMillis() {
            return (this.maxMillis > this.minMillis)
                    ? ThreadLocalRandom.current().nextLong(this.minMillis, this.maxMillis) : this.minMillis;
        }

    }

}

package io.delayqueue.peers.redisson;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.redisson.Redisson;
import org.redisson.api.RBlockingQueue;
import org.redisson.api.RDelayedQueue;
import org.redisson.api.RMap;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.codec.Kryo5Codec;
import org.redisson.codec.TypedJsonJacksonCodec;
import org.redisson.config.Config;

/**
 * An application that uses Redisson's delayed queue, as it was before the migration. It
 * sends entries, or handles them until its input ends. Handled entries are counted in a
 * hash.
 */
@SuppressWarnings("deprecation") // RDelayedQueue is, in favour of another edition
public final class RedissonPeer {

    private static final int SENT_AT_ONCE = 200;

    private static volatile boolean ended;

    private final RedissonClient client;

    private final RBlockingQueue<Order> queue;

    private RedissonPeer(int port, String queue, String codec) {
        Config config = new Config();
        config.setCodec(codec.equals("kryo") ? new Kryo5Codec() : new TypedJsonJacksonCodec(Order.class));
        // Redisson keeps a Redis with a million entries busy for longer than its time
        // limit, and offers wait for a connection meanwhile.
        config.useSingleServer().setAddress("redis://127.0.0.1:" + port).setTimeout(120_000).setRetryAttempts(1_000);
        this.client = Redisson.create(config);
        this.queue = this.client.getBlockingQueue(queue);
    }

    /**
     * Runs the application.
     * @param arguments port, queue, codec ({@code json} or {@code kryo}), and then
     * {@code send FIRST COUNT DELAY SPREAD ...}, {@code produce FIRST PER_SECOND DELAY}
     * or {@code consume HASH}; times in milliseconds
     */
    public static void main(String[] arguments) throws Exception {
        // The threads of the library would keep the process, and the test would wait.
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> {
            failure.printStackTrace();
            Runtime.getRuntime().halt(1);
        });
        Thread input = new Thread(RedissonPeer::awaitEnd, "input");
        input.setDaemon(true);
        input.start();
        RedissonPeer peer = new RedissonPeer(Integer.parseInt(arguments[0]), arguments[1], arguments[2]);
        switch (arguments[3]) {
            case "send" -> {
                for (int i = 4; i < arguments.length; i += 4) {
                    peer.send(number(arguments[i]), number(arguments[i + 1]), number(arguments[i + 2]),
                            number(arguments[i + 3]));
                }
                System.out.println("SENT all");
            }
            case "produce" -> peer.produce(number(arguments[4]), number(arguments[5]), number(arguments[6]));
            default -> peer.consume(arguments[4]);
        }
        peer.client.shutdown();
    }

    /** Notices a line, or the end of the process that has started this one. */
    private static void awaitEnd() {
        try {
            System.in.read();
        }
        catch (IOException ex) {
            // The input has ended.
        }
        ended = true;
    }

    private static long number(String text) {
        return Long.parseLong(text);
    }

    private void send(long first, long count, long delay, long spread) {
        RDelayedQueue<Order> delayed = this.client.getDelayedQueue(this.queue);
        List<CompletableFuture<Void>> answers = new ArrayList<>();
        for (long i = 0; i < count; i++) {
            long wait = delay + ((spread == 0) ? 0 : i * 7919 % spread);
            answers.add(delayed.offerAsync(new Order(first + i), wait, TimeUnit.MILLISECONDS).toCompletableFuture());
            if (answers.size() == SENT_AT_ONCE) {
                answers.forEach(CompletableFuture::join);
                answers.clear();
            }
        }
        answers.forEach(CompletableFuture::join);
    }

    /** Sends until the input ends. */
    private void produce(long first, long perSecond, long delay) throws InterruptedException {
        RDelayedQueue<Order> delayed = this.client.getDelayedQueue(this.queue);
        System.out.println("READY");
        long start = System.nanoTime();
        long sent = 0;
        while (!ended) {
            long due = (System.nanoTime() - start) * perSecond / 1_000_000_000L;
            if (sent < due) {
                delayed.offer(new Order(first + sent), delay, TimeUnit.MILLISECONDS);
                sent++;
            }
            else {
                // Real time: the load has a rate.
                Thread.sleep(5);
            }
        }
        System.out.println("SENT " + sent);
    }

    /** Handles entries until the input ends. */
    private void consume(String hash) throws InterruptedException {
        this.client.getDelayedQueue(this.queue);
        RMap<String, String> handled = this.client.getMap(hash, StringCodec.INSTANCE);
        System.out.println("READY");
        while (!ended) {
            Order order = this.queue.poll(100, TimeUnit.MILLISECONDS);
            if (order != null) {
                handled.addAndGet(Long.toString(order.number), 1);
            }
        }
        System.out.println("STOPPED");
    }

    /** The payload. */
    public static final class Order {

        /** The number of the order. */
        public long number;

        /** A text of some length, with characters that JSON and UTF-8 escape. */
        public String note;

        /** Creates an order, for the codec. */
        public Order() {
        }

        Order(long number) {
            this.number = number;
            this.note = "order \"" + number + "\" f\u00fcr M\u00fcller, to be cancelled if it is not paid in time";
        }

    }

}

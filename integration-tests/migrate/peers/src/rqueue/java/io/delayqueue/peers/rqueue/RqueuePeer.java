package io.delayqueue.peers.rqueue;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import com.github.sonus21.rqueue.annotation.RqueueListener;
import com.github.sonus21.rqueue.config.SimpleRqueueListenerContainerFactory;
import com.github.sonus21.rqueue.core.RqueueMessageEnqueuer;
import com.github.sonus21.rqueue.core.RqueueMessageManager;
import com.github.sonus21.rqueue.listener.RqueueMessageListenerContainer;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * An application that uses Rqueue, as it was before the migration. It sends messages, or
 * handles them until its input ends. Handled messages are counted in a hash.
 */
public final class RqueuePeer {

    private static final String QUEUE = "orders";

    private static final int SENDERS = 16;

    private static volatile boolean ended;

    private final ConfigurableApplicationContext context;

    private final RqueueMessageEnqueuer enqueuer;

    private RqueuePeer(int port, String hash, String mode) {
        SpringApplication application = new SpringApplication(Application.class);
        application.setWebApplicationType(WebApplicationType.NONE);
        Map<String, Object> properties = new TreeMap<>(Map.of("spring.main.banner-mode", "off", "logging.level.root",
                "ERROR", "spring.data.redis.host", "127.0.0.1", "spring.data.redis.port", port,
                "spring.data.redis.lettuce.pool.enabled", "true", "spring.data.redis.lettuce.pool.max-active", "32",
                "rqueue.latest.version.check.enabled", "false", "peer.hash", hash, "peer.mode", mode));
        application.setDefaultProperties(properties);
        this.context = application.run();
        this.enqueuer = this.context.getBean(RqueueMessageEnqueuer.class);
    }

    /**
     * Runs the application.
     * @param arguments port, and then {@code send FIRST COUNT DELAY SPREAD ...},
     * {@code produce FIRST PER_SECOND DELAY}, {@code consume HASH}, {@code fail HASH},
     * {@code hold HASH}, {@code special} or {@code delete ID...}, with the priority and a
     * slash before an ID; times in milliseconds
     */
    public static void main(String[] arguments) throws Exception {
        // The threads of the library would keep the process, and the test would wait.
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> {
            failure.printStackTrace();
            Runtime.getRuntime().halt(1);
        });
        Thread input = new Thread(RqueuePeer::awaitEnd, "input");
        input.setDaemon(true);
        input.start();
        String mode = arguments[1];
        boolean consumes = List.of("consume", "fail", "hold").contains(mode);
        RqueuePeer peer = new RqueuePeer(Integer.parseInt(arguments[0]), consumes ? arguments[2] : "", mode);
        switch (mode) {
            case "send" -> {
                for (int i = 2; i < arguments.length; i += 4) {
                    peer.send(number(arguments[i]), number(arguments[i + 1]), number(arguments[i + 2]),
                            number(arguments[i + 3]));
                }
                System.out.println("SENT all");
            }
            case "produce" -> peer.produce(number(arguments[2]), number(arguments[3]), number(arguments[4]));
            case "special" -> peer.special();
            case "delete" -> peer.delete(List.of(arguments).subList(2, arguments.length));
            default -> peer.consume();
        }
        peer.context.close();
        System.exit(0);
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

    private void send(long first, long count, long delay, long spread) throws Exception {
        ExecutorService senders = Executors.newFixedThreadPool(SENDERS);
        List<Callable<Object>> parts = new ArrayList<>();
        for (int part = 0; part < SENDERS; part++) {
            int offset = part;
            parts.add(Executors.callable(() -> {
                for (long i = offset; i < count; i += SENDERS) {
                    send(first + i, delay + ((spread == 0) ? 0 : i * 7919 % spread));
                }
            }));
        }
        for (var sent : senders.invokeAll(parts)) {
            sent.get();
        }
        senders.shutdown();
    }

    private void send(long number, long delay) {
        if (!this.enqueuer.enqueueIn(QUEUE, "order-" + number, new Order(number), Duration.ofMillis(delay))) {
            throw new IllegalStateException("Rqueue did not send");
        }
    }

    /** Sends until the input ends. */
    private void produce(long first, long perSecond, long delay) throws InterruptedException {
        System.out.println("READY");
        long start = System.nanoTime();
        long sent = 0;
        while (!ended) {
            long due = (System.nanoTime() - start) * perSecond / 1_000_000_000L;
            if (sent < due) {
                send(first + sent, delay);
                sent++;
            }
            else {
                // Real time: the load has a rate.
                Thread.sleep(5);
            }
        }
        System.out.println("SENT " + sent);
    }

    /** Sends messages of the kinds that are rare. */
    private void special() {
        Duration hour = Duration.ofHours(1);
        this.enqueuer.enqueuePeriodic(QUEUE, "every-hour", new Order(1), hour.toMillis());
        this.enqueuer.enqueueInWithRetry(QUEUE, new Order(2), 7, hour.toMillis());
        this.enqueuer.enqueueIn(QUEUE, "text", "a text", hour);
        this.enqueuer.enqueueInWithPriority(QUEUE, "high", "urgent", new Order(3), hour);
        this.enqueuer.enqueueIn(QUEUE, "an id, not valid here", new Order(4), hour);
        this.enqueuer.enqueueIn(QUEUE, "twice", new Order(5), hour);
        this.enqueuer.enqueueIn(QUEUE, "twice", new Order(6), hour);
        System.out.println("SENT 7");
    }

    private void delete(List<String> ids) {
        RqueueMessageManager manager = this.context.getBean(RqueueMessageManager.class);
        for (String id : ids) {
            String[] parts = id.split("/");
            boolean deleted = (parts.length == 2) ? manager.deleteMessage(QUEUE, parts[0], parts[1])
                    : manager.deleteMessage(QUEUE, id);
            if (!deleted) {
                throw new IllegalStateException("Rqueue did not delete " + id);
            }
        }
        System.out.println("DELETED " + ids.size());
    }

    /** Handles messages until the input ends. */
    private void consume() throws InterruptedException {
        this.context.getBean(RqueueMessageListenerContainer.class).start();
        System.out.println("READY");
        while (!ended) {
            // Real time: the test decides how long.
            Thread.sleep(20);
        }
        this.context.getBean(RqueueMessageListenerContainer.class).stop();
        System.out.println("STOPPED");
    }

    /** The payload. */
    public static final class Order {

        /** The number of the order. */
        public long number;

        /** A text of some length, with characters that JSON and UTF-8 escape. */
        public String note;

        /** Creates an order, for the converter. */
        public Order() {
        }

        Order(long number) {
            this.number = number;
            this.note = "order \"" + number + "\" f\u00fcr M\u00fcller, to be cancelled if it is not paid in time";
        }

    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        @Bean
        SimpleRqueueListenerContainerFactory simpleRqueueListenerContainerFactory() {
            SimpleRqueueListenerContainerFactory factory = new SimpleRqueueListenerContainerFactory();
            factory.setAutoStartup(false);
            return factory;
        }

        @Bean
        OrderListener orderListener(StringRedisTemplate redis, Environment environment) {
            return new OrderListener(redis, environment.getProperty("peer.hash", ""),
                    environment.getProperty("peer.mode", ""));
        }

    }

    /** Handles the orders. */
    public static class OrderListener {

        private final StringRedisTemplate redis;

        private final String hash;

        private final String mode;

        OrderListener(StringRedisTemplate redis, String hash, String mode) {
            this.redis = redis;
            this.hash = hash;
            this.mode = mode;
        }

        /** Handles an order, fails, or works on it until the application ends. */
        @RqueueListener(value = QUEUE, concurrency = "4-8", priority = "high=10,low=1")
        public void handle(Order order) throws InterruptedException {
            if (this.mode.equals("fail")) {
                this.redis.opsForHash().increment(this.hash, "failures", 1);
                throw new IllegalStateException("not yet");
            }
            if (this.mode.equals("hold")) {
                this.redis.opsForHash().increment(this.hash, "held", 1);
                new CountDownLatch(1).await();
            }
            this.redis.opsForHash().increment(this.hash, Long.toString(order.number), 1);
        }

    }

}

package io.delayqueue.benchmarks.rqueue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;

import com.github.sonus21.rqueue.config.SimpleRqueueListenerContainerFactory;
import com.github.sonus21.rqueue.core.RqueueMessageEnqueuer;
import com.github.sonus21.rqueue.listener.RqueueMessageListenerContainer;
import io.delayqueue.benchmarks.contender.Contender;
import io.delayqueue.benchmarks.contender.Setup;
import io.delayqueue.benchmarks.contender.Work;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.env.Environment;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * Rqueue in a Spring Boot application with its defaults, and with a pool of connections,
 * without which it opens one for each message. With the option {@code tuned} its mover
 * and its poller are as fast as its settings allow, and it takes a hundred messages in a
 * call.
 */
final class RqueueContender implements Contender {

    /** Threads that send in bulk: there is no call for many messages. */
    private static final int SENDERS = 16;

    private final ExecutorService senders = Executors.newFixedThreadPool(SENDERS);

    private @Nullable Setup setup;

    private @Nullable ConfigurableApplicationContext context;

    private @Nullable RqueueMessageEnqueuer enqueuer;

    @Override
    public void open(Setup setup, Consumer<Work> handler) {
        SpringApplication application = new SpringApplication(Application.class);
        application.setWebApplicationType(WebApplicationType.NONE);
        application.setDefaultProperties(properties(setup));
        application.addInitializers((context) -> ((GenericApplicationContext) context).registerBean("workListener",
                WorkListener.class, () -> new WorkListener(handler)));
        this.setup = setup;
        this.context = application.run();
        this.enqueuer = this.context.getBean(RqueueMessageEnqueuer.class);
    }

    private static Map<String, Object> properties(Setup setup) {
        Map<String, Object> properties = new TreeMap<>(Map.of("spring.main.banner-mode", "off", "logging.level.root",
                "WARN", "spring.data.redis.host", "127.0.0.1", "spring.data.redis.port", setup.port(),
                "spring.data.redis.lettuce.pool.enabled", "true", "spring.data.redis.lettuce.pool.max-active", "64",
                "rqueue.latest.version.check.enabled", "false"));
        properties.put("bench.queues", String.join(",", setup.queues()));
        properties.put("bench.handlers", (setup.handlers() > 0) ? setup.handlers() : 16);
        properties.put("bench.visibility", setup.options().getOrDefault("visibility", "900000"));
        properties.put("bench.batch", "-1"); // its default
        if (setup.options().containsKey("tuned")) {
            properties.put("bench.batch", "100");
            properties.put("bench.polling", "10");
            properties.put("rqueue.scheduler.scheduled.message.time.interval", "100");
            properties.put("rqueue.scheduler.max.message.count", "1000");
        }
        return properties;
    }

    @Override
    public void send(String queue, Work work, Duration delay) {
        if (opened(this.enqueuer).enqueueIn(queue, work, delay) == null) {
            throw new IllegalStateException("Rqueue did not send");
        }
    }

    @Override
    public void sendAll(String queue, List<Work> works) {
        List<Callable<Object>> parts = new ArrayList<>();
        for (int part = 0; part < SENDERS; part++) {
            int first = part;
            parts.add(Executors.callable(() -> {
                for (int i = first; i < works.size(); i += SENDERS) {
                    sendAt(queue, works.get(i));
                }
            }));
        }
        try {
            for (Future<Object> sent : this.senders.invokeAll(parts)) {
                sent.get();
            }
        }
        catch (ExecutionException ex) {
            throw new IllegalStateException(ex);
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }

    /** A due time in the past is refused, so such messages are due in a millisecond. */
    private void sendAt(String queue, Work work) {
        long millis = work.dueMicros() / 1000 - System.currentTimeMillis();
        send(queue, work, Duration.ofMillis(Math.max(1, millis)));
    }

    @Override
    public void startHandlers() {
        opened(this.context).getBean(RqueueMessageListenerContainer.class).start();
    }

    @Override
    public void stopHandlers() {
        opened(this.context).getBean(RqueueMessageListenerContainer.class).stop();
    }

    @Override
    public boolean isSettled() {
        StringRedisTemplate redis = opened(this.context).getBean(StringRedisTemplate.class);
        for (String queue : opened(this.setup).queues()) {
            Long inFlight = redis.opsForZSet().zCard("__rq::p-queue::{" + queue + "}");
            if (inFlight != null && inFlight > 0) {
                return false;
            }
        }
        return true;
    }

    @Override
    public void close() {
        opened(this.context).close();
        this.senders.shutdown();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        @Bean
        SimpleRqueueListenerContainerFactory simpleRqueueListenerContainerFactory(Environment environment) {
            SimpleRqueueListenerContainerFactory factory = new SimpleRqueueListenerContainerFactory();
            factory.setAutoStartup(false);
            factory.setPollingInterval(environment.getProperty("bench.polling", Long.class, 200L));
            return factory;
        }

    }

}

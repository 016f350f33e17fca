package io.delayqueue.benchmarks.delayqueue;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

import io.delayqueue.CancelResult;
import io.delayqueue.DelayedMessage;
import io.delayqueue.RescheduleResult;
import io.delayqueue.benchmarks.contender.Contender;
import io.delayqueue.benchmarks.contender.Setup;
import io.delayqueue.benchmarks.contender.Work;
import io.delayqueue.listener.DelayedListenerRegistry;
import io.delayqueue.listener.ListenerContainer;
import io.delayqueue.template.DelayQueueTemplate;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.GenericApplicationContext;

/**
 * DelayQueue in a Spring Boot application with its defaults, but for the number of
 * handlers, and for a listener that starts when the runner says so. An option whose name
 * begins with {@code delayqueue.} or {@code spring.} is set as a property. With
 * {@code metered} it has a Prometheus registry and observations, with
 * {@code metered=lettuce} those of Boot for each command too; else it has none, as if
 * that were not on the class path.
 */
public final class DelayQueueContender implements Contender {

    private static final String LETTUCE_OBSERVATIONS = "org.springframework.boot.data.redis.autoconfigure.observation."
            + "LettuceObservationAutoConfiguration";

    private static final List<String> METRICS = List.of(LETTUCE_OBSERVATIONS,
            "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration",
            "org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration",
            "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
            "org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration",
            "org.springframework.boot.micrometer.metrics.autoconfigure.export.prometheus."
                    + "PrometheusMetricsExportAutoConfiguration");

    private @Nullable ConfigurableApplicationContext context;

    private @Nullable DelayQueueTemplate template;

    private @Nullable Setup setup;

    @Override
    public void open(Setup setup, Consumer<Work> handler) {
        SpringApplication application = new SpringApplication(Application.class);
        application.setWebApplicationType(WebApplicationType.NONE);
        application.setDefaultProperties(properties(setup));
        application.addInitializers((context) -> ((GenericApplicationContext) context).registerBean("workListener",
                WorkListener.class, () -> new WorkListener(setup.queues(), handler)));
        this.setup = setup;
        this.context = application.run();
        this.template = this.context.getBean(DelayQueueTemplate.class);
    }

    private static Map<String, Object> properties(Setup setup) {
        Map<String, Object> properties = new TreeMap<>(Map.of("spring.main.banner-mode", "off", "logging.level.root",
                "WARN", "spring.data.redis.host", "127.0.0.1", "spring.data.redis.port", setup.port()));
        if (setup.handlers() > 0) {
            properties.put("delayqueue.listener.concurrency", setup.handlers());
        }
        String metered = setup.options().getOrDefault("metered", "no");
        properties.put("delayqueue.observation.enabled", !metered.equals("no"));
        properties.put("spring.autoconfigure.exclude", switch (metered) {
            case "no" -> String.join(",", METRICS);
            case "lettuce" -> "";
            default -> LETTUCE_OBSERVATIONS;
        });
        setup.options().forEach((name, value) -> {
            if (name.startsWith("delayqueue.") || name.startsWith("spring.")) {
                properties.put(name, value);
            }
        });
        return properties;
    }

    @Override
    public void send(String queue, Work work, Duration delay) {
        opened(this.template).send(queue, work, delay);
    }

    @Override
    public void sendAll(String queue, List<Work> works) {
        boolean idsOfNumbers = opened(this.setup).idsOfNumbers();
        List<DelayedMessage> messages = new ArrayList<>(works.size());
        for (Work work : works) {
            DelayedMessage.Builder message = DelayedMessage.builder(queue, work)
                .dueAt(Instant.EPOCH.plus(work.dueMicros(), ChronoUnit.MICROS));
            if (idsOfNumbers) {
                message.id(Setup.id((work.number() < 0) ? -1 - work.number() : work.number()));
            }
            messages.add(message.build());
        }
        opened(this.template).sendAll(messages);
    }

    @Override
    public void startHandlers() {
        container().start();
    }

    @Override
    public void stopHandlers() {
        container().stop();
        while (runningHandlers() > 0 || !isSettled()) {
            // Real time: a container has no event for its last acknowledgement.
            LockSupport.parkNanos(1_000_000);
        }
    }

    /**
     * Checks a sample of very many queues, because checking all of them would be most of
     * the work.
     */
    @Override
    public boolean isSettled() {
        return opened(this.setup).queues()
            .stream()
            .limit(100)
            .allMatch((queue) -> opened(this.template).statistics(queue).leased() == 0);
    }

    @Override
    public boolean cancel(String queue, long number) {
        return opened(this.template).cancel(queue, Setup.id(number)) == CancelResult.CANCELLED;
    }

    @Override
    public boolean reschedule(String queue, long number, Duration delay) {
        return opened(this.template).reschedule(queue, Setup.id(number), delay) == RescheduleResult.RESCHEDULED;
    }

    @Override
    public boolean find(String queue, long number) {
        return opened(this.template).find(queue, Setup.id(number)).isPresent();
    }

    /** Returns the application. */
    public ConfigurableApplicationContext context() {
        return opened(this.context);
    }

    @Override
    public void close() {
        opened(this.context).close();
    }

    private ListenerContainer container() {
        return opened(this.context).getBean(DelayedListenerRegistry.class).require(WorkListener.ID);
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

    }

    /**
     * Uses reflection, as the type of the statistics is in another package in older
     * versions that this one is compared with.
     */
    private int runningHandlers() {
        try {
            Object statistics = ListenerContainer.class.getMethod("statistics").invoke(container());
            return (int) statistics.getClass().getMethod("running").invoke(statistics);
        }
        catch (ReflectiveOperationException ex) {
            throw new IllegalStateException(ex);
        }
    }

}

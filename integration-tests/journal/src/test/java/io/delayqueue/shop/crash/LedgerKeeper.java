package io.delayqueue.shop.crash;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;

import io.delayqueue.DelayedListener;
import io.delayqueue.template.DelayQueueTemplate;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;

/**
 * An application that keeps the messages of a ledger, and sends none by itself. Each
 * message {@link #POISON} becomes a dead letter. As a process of its own it suspends a
 * thread at a point as {@link LedgerShop} does.
 */
@EnableAutoConfiguration
class LedgerKeeper {

    static final String QUEUE = "kept";

    static final String POISON = "poison";

    final List<String> handled = new CopyOnWriteArrayList<>();

    public static void main(String[] arguments) {
        LedgerShop.resumeOnInput(Executors.newSingleThreadScheduledExecutor());
        // Each node compares a queue with its ledger once it uses the queue.
        SpringApplication.run(LedgerKeeper.class, arguments).getBean(DelayQueueTemplate.class).find(QUEUE, "any");
        System.out.println("READY keeper");
    }

    @Bean
    static BeanPostProcessor points(Environment environment) {
        return LedgerShop.points(environment);
    }

    @DelayedListener(value = QUEUE, maxAttempts = "1")
    void handle(String content) {
        if (content.equals(POISON)) {
            throw new IllegalArgumentException("This message cannot be handled");
        }
        this.handled.add(content);
    }

}

package com.example.shop;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedListener;

import org.springframework.boot.CommandLineRunner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** Sends a message with a delay of a second, waits until its listener has handled it, and ends. */
@SpringBootApplication
public class Shop implements CommandLineRunner {

    record OrderTimeout(long orderId) {
    }

    private final DelayQueueOperations delayQueue;

    private final CountDownLatch handled = new CountDownLatch(1);

    Shop(DelayQueueOperations delayQueue) {
        this.delayQueue = delayQueue;
    }

    public static void main(String[] args) {
        SpringApplication.exit(SpringApplication.run(Shop.class, args));
    }

    @Override
    public void run(String... args) throws InterruptedException {
        this.delayQueue.send("order-timeout", new OrderTimeout(42), Duration.ofSeconds(1));
        if (!this.handled.await(1, TimeUnit.MINUTES)) {
            throw new IllegalStateException("The message was not handled");
        }
    }

    @DelayedListener("order-timeout")
    void cancelUnpaid(OrderTimeout timeout) {
        System.out.println("Not paid in time: " + timeout.orderId());
        this.handled.countDown();
    }

}

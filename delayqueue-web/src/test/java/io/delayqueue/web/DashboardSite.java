package io.delayqueue.web;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedListener;
import io.delayqueue.Delivery;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.redis.RedisUser;
import io.delayqueue.web.consume.ApiServer;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** Runs a shop with a dashboard below a context path, a real Redis, and a browser. */
public final class DashboardSite implements AutoCloseable {

    public static final String HOSTILE = "<img src=x onerror=\"window.hacked=1\"><script>window.hacked=1</script>\u202e${7*7}{{7*7}}";

    private static final String PAGE = "/shop/ops/delayqueue/";

    private static final Path SCREENSHOTS = Path.of("../docs/dashboard");

    private final RedisServer redis;

    private final ApiServer server;

    private final Browser browser;

    private DashboardSite(RedisServer redis, ApiServer server, Browser browser) {
        this.redis = redis;
        this.server = server;
        this.browser = browser;
    }

    public static DashboardSite open() {
        return open(RedisServer.shared(RedisBinary.REDIS_7_0), ApiServer.ALL, "5s");
    }

    /**
     * Opens a site for another test.
     * @param redis is not closed with it
     * @param user see {@link ApiServer}
     * @param commandTimeout the timeout of Redis commands
     */
    public static DashboardSite open(RedisServer redis, String user, String commandTimeout) {
        return open(redis, user, commandTimeout, Shop.class);
    }

    /** Opens a site of another application, with more properties. */
    public static DashboardSite open(RedisServer redis, String user, String commandTimeout, Class<?> application,
            String... more) {
        Browser browser = Browser.open();
        clear(redis);
        String[] properties = RedisUser.asAsked("spring.data.redis.port=" + redis.port(), "delayqueue.store=redis",
                "delayqueue.namespace=dashboard", "delayqueue.web.api.enabled=false",
                "delayqueue.web.dashboard.enabled=true", "delayqueue.web.dashboard.path=/ops/delayqueue",
                "server.servlet.context-path=/shop", "delayqueue.listener.max-attempts=1",
                "delayqueue.command-timeout=" + commandTimeout);
        ApiServer server = ApiServer.start(application,
                Stream.concat(Arrays.stream(properties), Arrays.stream(more)).toArray(String[]::new));
        browser.size(1280, 1000);
        browser.visit(server.port(), user, PAGE);
        browser.awaitText("Queues");
        return new DashboardSite(redis, server, browser);
    }

    private static void clear(RedisServer redis) {
        List<String> keys = redis.commands().keys("dashboard:*");
        if (!keys.isEmpty()) {
            redis.commands().unlink(keys.toArray(String[]::new)); // in the background:
                                                                  // there may be a
                                                                  // million messages
        }
    }

    public Browser browser() {
        return this.browser;
    }

    public DelayQueueOperations operations() {
        return this.server.operations();
    }

    public <T> T bean(Class<T> type) {
        return this.server.bean(type);
    }

    public String address() {
        return "http://127.0.0.1:%d%s".formatted(this.server.port(), PAGE);
    }

    public static boolean isPictured() {
        return "write".equals(System.getProperty("dq.screenshots"));
    }

    /** Takes a screenshot for the documentation, if enabled. */
    public static void screenshot(Browser browser, String name) {
        if (isPictured() && !name.startsWith("-")) {
            browser.run("document.getElementById('result').classList.remove('there')");
            browser.screenshot(SCREENSHOTS.resolve(name + ".png"));
        }
    }

    @Override
    public void close() {
        this.browser.close();
        this.server.close();
        clear(this.redis);
    }

    /** Handles orders and receipts. */
    @Configuration(proxyBeanMethods = false)
    @Import(ApiServer.Application.class)
    public static class Shop {

        public static final Queue<String> handled = new ConcurrentLinkedQueue<>();

        public static volatile boolean broken;

        public static volatile boolean hostile;

        @Bean
        Handlers handlers() {
            return new Handlers();
        }

    }

    static class Handlers {

        @DelayedListener("order-timeout")
        void cancelUnpaid(Map<String, Object> order, Delivery delivery) {
            Shop.handled.add(delivery.id());
        }

        @DelayedListener("receipts")
        void print(Map<String, Object> receipt, Delivery delivery) {
            if (Shop.hostile) {
                throw new IllegalStateException(HOSTILE);
            }
            if (Shop.broken) {
                throw new IllegalStateException("The printer is out of paper");
            }
            Shop.handled.add(delivery.id());
        }

    }

}

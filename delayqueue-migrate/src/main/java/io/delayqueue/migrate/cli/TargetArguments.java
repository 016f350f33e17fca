package io.delayqueue.migrate.cli;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.delayqueue.DelayQueueOperations;
import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisURI;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import org.springframework.boot.Banner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * Holds the options about DelayQueue. Any property of Spring Boot and of the library can
 * be given as well, as it is given to the application.
 */
final class TargetArguments {

    static final String PASSWORD = "DELAYQUEUE_MIGRATE_TARGET_PASSWORD";

    private static final List<String> PREFIXES = List.of("--spring.", "--delayqueue.", "--logging.");

    @Option(names = "--target-url", paramLabel = "URL",
            description = "the Redis of DelayQueue: redis:// or rediss://. Default: that of the source, if it is one "
                    + "server. For Sentinel and clusters give the properties of the application, such as "
                    + "--spring.data.redis.cluster.nodes=... A password may be in " + PASSWORD)
    private @Nullable String url;

    @Option(names = "--namespace", paramLabel = "NAME", defaultValue = "dq",
            description = "the delayqueue.namespace of the application. Default: ${DEFAULT-VALUE}")
    private String namespace = "dq";

    @Parameters(arity = "0..*", hidden = true)
    private final List<String> properties = new ArrayList<>();

    /** Connects to DelayQueue. */
    Target open(SourceArguments source) {
        SpringApplication application = new SpringApplication(TargetApplication.class);
        application.setWebApplicationType(WebApplicationType.NONE);
        application.setBannerMode(Banner.Mode.OFF);
        application.setLogStartupInfo(false);
        application.setRegisterShutdownHook(false);
        Map<String, Object> defaults = new LinkedHashMap<>(Map.of("logging.level.root", "WARN", "delayqueue.namespace",
                this.namespace, "spring.main.lazy-initialization", "true"));
        defaults.putAll(connection(source));
        application.setDefaultProperties(defaults);
        return new Target(application.run(this.properties.toArray(String[]::new)));
    }

    /**
     * Checks the arguments that no option takes.
     * @throws IllegalArgumentException if one is not a property
     */
    void check() {
        this.properties.forEach(TargetArguments::check);
    }

    private static void check(String property) {
        if (PREFIXES.stream().noneMatch(property::startsWith) || !property.contains("=")) {
            String name = property.split("=", 2)[0];
            throw new IllegalArgumentException(("Argument '%s' is not known: see --help. Properties of the application "
                    + "are given as --spring.NAME=VALUE or --delayqueue.NAME=VALUE")
                .formatted(name));
        }
    }

    private Map<String, Object> connection(SourceArguments source) {
        if (this.url != null) {
            return connection("--target-url", this.url, null, System.getenv(PASSWORD));
        }
        if (this.properties.stream().anyMatch((property) -> property.startsWith("--spring.data.redis."))) {
            return Map.of();
        }
        if (source.url().matches("rediss?://[^,]*")) {
            return connection("--source-url", source.url(), source.user(), source.password());
        }
        throw new IllegalArgumentException("--target-url is needed, because the source is not one Redis server: use "
                + "redis://host:6379, or give the properties --spring.data.redis.* of the application");
    }

    private static Map<String, Object> connection(String option, String url, @Nullable String user,
            @Nullable String password) {
        RedisURI uri;
        try {
            uri = RedisURI.create(url);
        }
        catch (RuntimeException ex) {
            // Neither the URL nor the exception, which quotes it: it may contain a
            // password.
            throw new IllegalArgumentException(
                    option + " is not a URL of Redis: use redis://host:6379/0 or rediss://host:6379");
        }
        Map<String, Object> properties = new LinkedHashMap<>(
                Map.of("spring.data.redis.host", uri.getHost(), "spring.data.redis.port", uri.getPort(),
                        "spring.data.redis.database", uri.getDatabase(), "spring.data.redis.ssl.enabled", uri.isSsl()));
        RedisCredentials inUrl = uri.getCredentialsProvider().resolveCredentials().block();
        if (password != null) {
            put(properties, "spring.data.redis.username", user);
            put(properties, "spring.data.redis.password", password);
        }
        else if (inUrl != null && inUrl.hasPassword()) {
            put(properties, "spring.data.redis.username", inUrl.getUsername());
            put(properties, "spring.data.redis.password", new String(inUrl.getPassword()));
        }
        return properties;
    }

    private static void put(Map<String, Object> properties, String name, @Nullable String value) {
        if (value != null) {
            properties.put(name, value);
        }
    }

    /**
     * Holds the connection to DelayQueue.
     *
     * @param context the application context that has it
     */
    record Target(ConfigurableApplicationContext context) implements AutoCloseable {

        DelayQueueOperations queues() {
            return this.context.getBean(DelayQueueOperations.class);
        }

        @Override
        public void close() {
            this.context.close();
        }

    }

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class TargetApplication {

    }

}

package io.delayqueue.migrate.cli;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

import io.delayqueue.DelayQueueOperations;
import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisURI;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.Banner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * Holds the options about DelayQueue. Any property of Spring Boot and of the library can
 * be given as well, as it is given to the application.
 */
final class TargetArguments {

    static final String PASSWORD = "DELAYQUEUE_MIGRATE_TARGET_PASSWORD";

    /** The properties that name a server. */
    private static final List<String> ADDRESSES = Stream
        .of("url", "host", "port", "cluster.", "sentinel.", "masterreplica.")
        .map((name) -> "--spring.data.redis." + name)
        .toList();

    /** The properties whose values an address contains. */
    private static final List<String> PARTS = Stream.of("username=", "password=", "database=")
        .map((name) -> "--spring.data.redis." + name)
        .toList();

    /** The properties that name one server. */
    private static final List<String> SERVER = List.of("--spring.data.redis.url", "--spring.data.redis.host",
            "--spring.data.redis.port");

    /** The properties that count before a host. */
    private static final List<String> BEFORE_HOST = List.of("sentinel.nodes", "cluster.nodes", "masterreplica.nodes",
            "url");

    private static final String NAMESPACE = "--delayqueue.namespace=";

    private static final String UNKNOWN_QUEUES = "--delayqueue.send.unknown-queues=";

    /** The user that Redis means if a client names none. */
    private static final String DEFAULT_USER = "default";

    private static final List<String> PREFIXES = List.of("--spring.", "--delayqueue.", "--logging.");

    @Option(names = "--target-url", paramLabel = "URL",
            description = "the Redis of DelayQueue: redis:// or rediss://. Default: that of the source, if it is one "
                    + "server. For Sentinel and clusters give the properties of the application, such as "
                    + "--spring.data.redis.cluster.nodes=... A password may be in " + PASSWORD)
    private @Nullable String url;

    @Option(names = "--namespace", paramLabel = "NAME",
            description = "the delayqueue.namespace of the application. Default: dq")
    private @Nullable String namespace;

    @Parameters(arity = "0..*", hidden = true)
    private final List<String> properties = new ArrayList<>();

    /** Connects to DelayQueue. */
    Target open(SourceArguments source) {
        SpringApplication application = new SpringApplication(TargetApplication.class);
        application.setWebApplicationType(WebApplicationType.NONE);
        application.setBannerMode(Banner.Mode.OFF);
        application.setLogStartupInfo(false);
        application.setRegisterShutdownHook(false);
        application
            .setDefaultProperties(Map.of("logging.level.root", "WARN", "spring.main.lazy-initialization", "true"));
        // Arguments, as neither the environment nor a file of the working directory may
        // change the target.
        List<String> arguments = new ArrayList<>(this.properties);
        if (!hasProperty(List.of(NAMESPACE))) {
            arguments.add(NAMESPACE + ((this.namespace != null) ? this.namespace : "dq"));
        }
        // An application knows the queues of its listeners, and this program has none.
        arguments.removeIf((argument) -> argument.startsWith(UNKNOWN_QUEUES));
        arguments.add(UNKNOWN_QUEUES + "allow");
        String address = address(source);
        if (address != null) {
            arguments.add("--spring.data.redis.url=" + address);
        }
        Target target = new Target(application.run(arguments.toArray(String[]::new)));
        if (address != null || hasProperty(SERVER)) {
            requireSingle(target, address != null);
        }
        return target;
    }

    /**
     * Rejects another Redis that something else names, such as the environment: it would
     * be used instead of the server that the arguments name.
     */
    private void requireSingle(Target target, boolean byAddress) {
        Binder binder = Binder.get(target.context().getEnvironment());
        for (String other : BEFORE_HOST) {
            boolean given = (byAddress && other.equals("url")) || hasProperty(List.of("--spring.data.redis." + other));
            if (!given && binder.bind("spring.data.redis." + other, Bindable.listOf(String.class)).isBound()) {
                target.close();
                throw new IllegalArgumentException(("spring.data.redis.%s is set, for example in the environment, and "
                        + "names another Redis than the arguments: remove it")
                    .formatted(other));
            }
        }
    }

    /**
     * Checks the arguments that no option takes.
     * @throws IllegalArgumentException if one is not a property, or has no effect
     */
    void check() {
        this.properties.forEach(TargetArguments::check);
        boolean named = hasProperty(ADDRESSES);
        if (named && this.url != null) {
            throw new IllegalArgumentException(
                    "--target-url and a property such as --spring.data.redis.host both name a Redis: give one of them");
        }
        if (!named && hasProperty(PARTS)) {
            throw new IllegalArgumentException("--spring.data.redis.username, password and database have no effect on "
                    + "a URL: give them in --target-url=redis://user:password@host:6379/database, or give "
                    + "--spring.data.redis.host as well");
        }
        if (this.namespace != null && hasProperty(List.of(NAMESPACE))) {
            throw new IllegalArgumentException(
                    "--namespace and --delayqueue.namespace are both given: give one of them");
        }
    }

    private boolean hasProperty(List<String> names) {
        return this.properties.stream().anyMatch((property) -> names.stream().anyMatch(property::startsWith));
    }

    private static void check(String property) {
        if (PREFIXES.stream().noneMatch(property::startsWith) || !property.contains("=")) {
            throw new IllegalArgumentException(("Argument '%s' is not known: see --help. Properties of the application "
                    + "are given as --spring.NAME=VALUE or --delayqueue.NAME=VALUE")
                .formatted(Redaction.name(property)));
        }
    }

    /**
     * Returns the URL of the target, with credentials; {@code null} if properties name
     * it.
     */
    private @Nullable String address(SourceArguments source) {
        if (this.url != null) {
            return address("--target-url", this.url, null, System.getenv(PASSWORD));
        }
        if (hasProperty(ADDRESSES)) {
            return null;
        }
        if (source.url().matches("rediss?://[^,]*")) {
            return address("--source-url", source.url(), source.user(), source.password());
        }
        throw new IllegalArgumentException("--target-url is needed, because the source is not one Redis server: use "
                + "redis://host:6379, or give the properties --spring.data.redis.* of the application");
    }

    private static String address(String option, String url, @Nullable String user, @Nullable String password) {
        try {
            RedisURI uri = RedisURI.create(url);
            return new URI(uri.isSsl() ? "rediss" : "redis", userInfo(uri, user, password),
                    Objects.requireNonNull(uri.getHost()), uri.getPort(), "/" + uri.getDatabase(), null, null)
                .toString();
        }
        catch (RuntimeException | URISyntaxException ex) {
            // Neither the URL nor the exception, which quotes it: it may contain a
            // password.
            throw new IllegalArgumentException(
                    option + " is not a URL of Redis: use redis://host:6379/0 or rediss://host:6379");
        }
    }

    private static @Nullable String userInfo(RedisURI uri, @Nullable String user, @Nullable String password) {
        RedisCredentials inUrl = uri.getCredentialsProvider().resolveCredentials().block();
        String named = (user != null) ? user
                : (inUrl != null && inUrl.hasUsername()) ? inUrl.getUsername() : DEFAULT_USER;
        if (password != null) {
            return named + ":" + password;
        }
        return (inUrl != null && inUrl.hasPassword()) ? named + ":" + new String(inUrl.getPassword()) : null;
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

        /** Returns the mapper that writes payloads. */
        JsonMapper json() {
            return this.context.getBeanProvider(JsonMapper.class).getIfAvailable(() -> JsonMapper.builder().build());
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

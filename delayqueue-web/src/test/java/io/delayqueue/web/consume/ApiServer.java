package io.delayqueue.web.consume;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.admin.AuditedOperationEvent;
import io.delayqueue.web.ApiDescription;
import io.delayqueue.web.http.Authority;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetails;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.crypto.password.PasswordEncoder;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;

import static org.awaitility.Awaitility.await;

/**
 * Runs an application with the API on its own port, and a client. Each user has the
 * authority of the same name, besides {@code all} and {@code none}. Every response is
 * checked against the description.
 */
public final class ApiServer implements AutoCloseable {

    public static final String ALL = "all";

    public static final String NONE = "none";

    public static final String PATH = "/delayqueue/api/v1";

    private static final Duration LIMIT = Duration.ofSeconds(30);

    private final ConfigurableApplicationContext context;

    private final HttpClient client = HttpClient.newBuilder().connectTimeout(LIMIT).build();

    private final ApiDescription description = new ApiDescription();

    private ApiServer(ConfigurableApplicationContext context) {
        this.context = context;
    }

    /** Returns the server for tests without special needs; it ends with the process. */
    public static ApiServer shared() {
        return Shared.SERVER;
    }

    /**
     * Starts a server that stores messages in memory, unless a property overrides that.
     */
    public static ApiServer start(String... properties) {
        return start(Application.class, properties);
    }

    public static ApiServer start(Class<?> application, String... properties) {
        return new ApiServer(new SpringApplicationBuilder(application).web(WebApplicationType.SERVLET)
            .registerShutdownHook(false)
            .properties("server.port=0", "server.address=127.0.0.1", "delayqueue.store=memory",
                    "delayqueue.web.api.enabled=true", "spring.main.banner-mode=off",
                    "spring.main.log-startup-info=false", "server.tomcat.threads.max=4")
            .run(Arrays.stream(properties).map("--"::concat).toArray(String[]::new)));
    }

    public int port() {
        return ((WebServerApplicationContext) this.context).getWebServer().getPort();
    }

    public <T> T bean(Class<T> type) {
        return this.context.getBean(type);
    }

    public DelayQueueOperations operations() {
        return bean(DelayQueueOperations.class);
    }

    /** Returns the audit events of all answered requests. */
    public List<AuditedOperationEvent> audited() {
        this.context.getBeanProvider(AsyncEventPublisher.class)
            .ifAvailable((publisher) -> await().pollDelay(Duration.ZERO).until(() -> publisher.pending() == 0));
        return bean(Auditor.class).events;
    }

    public Reply get(String path) {
        return call(ALL, "GET", path, null);
    }

    public Reply post(String path, String body) {
        return call(ALL, "POST", path, body);
    }

    public Reply call(@Nullable String user, String method, String path, @Nullable String body) {
        return send(method, path, body, (request) -> {
            if (body != null) {
                request.header("Content-Type", "application/json");
            }
            return (user != null) ? request.header("Authorization", basic(user)) : request;
        });
    }

    public Reply send(String method, String path, @Nullable String body, UnaryOperator<HttpRequest.Builder> more) {
        try {
            HttpRequest.Builder request = HttpRequest
                .newBuilder(URI.create("http://127.0.0.1:%d%s".formatted(port(), path)))
                .timeout(LIMIT)
                .method(method, (body != null) ? BodyPublishers.ofString(body) : BodyPublishers.noBody());
            Reply reply = new Reply(this.client.send(more.apply(request).build(), BodyHandlers.ofString()));
            if (path.startsWith(PATH + "/")) {
                this.description.check(method, path.substring(PATH.length()), reply);
            }
            return reply;
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(ex);
        }
    }

    public static String basic(String user) {
        return "Basic " + Base64.getEncoder().encodeToString((user + ":secret").getBytes());
    }

    @Override
    public void close() {
        this.context.close();
    }

    private static final class Shared {

        private static final ApiServer SERVER = start();

    }

    /** Holds a response. */
    public record Reply(HttpResponse<String> http) {

        private static final JsonMapper mapper = JsonMapper.builder().build();

        public int status() {
            return this.http.statusCode();
        }

        public String body() {
            return this.http.body();
        }

        public JsonNode json() {
            return mapper.readTree(body());
        }

        public String header(String name) {
            return this.http.headers().firstValue(name).orElse("");
        }

        /** Returns the kind of problem. */
        public String problem() {
            return json().path("type").asString().replace("urn:delayqueue:problem:", "");
        }

        public String detail() {
            return json().path("detail").asString();
        }

    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    public static class Application {

        @Bean
        Auditor auditor() {
            return new Auditor();
        }

        @Bean
        UserDetailsService users() {
            Stream<UserDetails> each = Arrays.stream(Authority.values())
                .map((authority) -> user(authority.name().toLowerCase(Locale.ROOT), authority.text()));
            return new InMemoryUserDetailsManager(
                    Stream
                        .concat(each,
                                Stream.of(user(NONE, "ROLE_ADMIN"), user(ALL,
                                        Arrays.stream(Authority.values()).map(Authority::text).toArray(String[]::new))))
                        .toList());
        }

        /**
         * Compares plain passwords, because hashing takes longer than the rest of a
         * request.
         */
        @Bean
        PasswordEncoder passwords() {
            return new PasswordEncoder() {

                @Override
                public String encode(CharSequence password) {
                    return password.toString();
                }

                @Override
                public boolean matches(CharSequence password, String stored) {
                    return stored.contentEquals(password);
                }

            };
        }

        private static UserDetails user(String name, String... authorities) {
            return User.withUsername(name).password("secret").authorities(authorities).build();
        }

    }

    static final class Auditor {

        private final List<AuditedOperationEvent> events = Collections.synchronizedList(new ArrayList<>());

        @EventListener
        public void audited(AuditedOperationEvent event) {
            this.events.add(event);
        }

    }

}

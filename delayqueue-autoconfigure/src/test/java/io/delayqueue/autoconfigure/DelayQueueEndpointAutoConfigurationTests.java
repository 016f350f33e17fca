package io.delayqueue.autoconfigure;

import java.lang.reflect.Proxy;
import java.security.Principal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedListener;
import io.delayqueue.DelayedMessage;
import io.delayqueue.Delivery;
import io.delayqueue.ScheduleDefinition;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.actuator.DelayQueueEndpoint;
import io.delayqueue.admin.AuditedOperationEvent;
import io.delayqueue.admin.AuditedOperationEvent.Outcome;
import io.delayqueue.admin.DelayQueueInspector;
import io.delayqueue.journal.JournalOperations;
import io.delayqueue.journal.RestorePlan;
import io.delayqueue.journal.RestoreReport;
import io.delayqueue.journal.RestoreStep;
import io.delayqueue.listener.DelayedListenerRegistry;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.actuate.audit.listener.AuditApplicationEvent;
import org.springframework.boot.actuate.autoconfigure.endpoint.EndpointAutoConfiguration;
import org.springframework.boot.actuate.endpoint.EndpointAccessResolver;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.InvocationContext;
import org.springframework.boot.actuate.endpoint.OperationFilter;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.invoke.ParameterValueMapper;
import org.springframework.boot.actuate.endpoint.web.EndpointMediaTypes;
import org.springframework.boot.actuate.endpoint.web.WebEndpointHttpMethod;
import org.springframework.boot.actuate.endpoint.web.WebOperation;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpointDiscoverer;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/** Tests the endpoint, and its restriction by Boot's access rules. */
class DelayQueueEndpointAutoConfigurationTests {

    private static final SecurityContext ADA = new SecurityContext() {

        @Override
        public Principal getPrincipal() {
            return () -> "ada";
        }

        @Override
        public boolean isUserInRole(String role) {
            return false;
        }

    };

    private static final String PATH = "delayqueue/{section}/{name}";

    private final ApplicationContextRunner application = new ApplicationContextRunner()
        .withConfiguration(AutoConfigurations.of(DelayQueueAutoConfiguration.class,
                DelayQueueListenerAutoConfiguration.class, DelayQueueEndpointAutoConfiguration.class,
                DelayQueueAuditAutoConfiguration.class, EndpointAutoConfiguration.class))
        .withPropertyValues("delayqueue.store=memory", "management.endpoints.web.exposure.include=delayqueue")
        .withBean(Handler.class);

    private final ApplicationContextRunner writable = this.application
        .withPropertyValues("management.endpoint.delayqueue.access=UNRESTRICTED");

    @Test
    void returnsQueuesAndListeners() {
        this.application.run((context) -> {
            send(context, "orders", "later", Duration.ofMinutes(30));

            JsonNode all = read(context, "delayqueue", Map.of());
            assertThat(all.at("/queues/0/queue").asString()).isEqualTo("orders");
            assertThat(all.at("/queues/0/scheduled").asLong()).isOne();
            assertThat(all.at("/listeners/0/id").asString()).isEqualTo("all");
            assertThat(all.at("/listeners/0/freeHandlers/orders").asInt()).isEqualTo(10);
            assertThat(all.at("/nodes").isArray()).isTrue();

            JsonNode queue = read(context, PATH, Map.of("section", "queues", "name", "orders"));
            assertThat(queue.at("/counts/scheduled").asLong()).isOne();
            assertThat(queue.at("/forecast/hour").asLong()).isOne();
            assertThat(read(context, PATH, Map.of("section", "listeners", "name", "all")).at("/running").asBoolean())
                .isTrue();
            assertThat(read(context, PATH, Map.of("section", "integrity", "name", "orders")).at("/findings")).isEmpty();
            assertThat(invoke(context, WebEndpointHttpMethod.GET, PATH, Map.of("section", "listeners", "name", "no")))
                .isNull();
        });
    }

    @Test
    void onlyReadsUnlessTheApplicationAllowsMore() {
        this.application.run((context) -> assertThat(operations(context))
            .extracting((operation) -> operation.getRequestPredicate().getHttpMethod())
            .containsOnly(WebEndpointHttpMethod.GET));
        this.writable.run((context) -> assertThat(operations(context))
            .extracting((operation) -> operation.getRequestPredicate().getHttpMethod())
            .contains(WebEndpointHttpMethod.POST));
        this.application.withPropertyValues("management.endpoint.delayqueue.access=NONE")
            .run((context) -> assertThat(context).doesNotHaveBean(DelayQueueEndpoint.class));
    }

    @Test
    void pausesAndResumesQueues() {
        this.writable.run((context) -> {
            Map<String, Object> orders = Map.of("section", "queues", "name", "orders");
            assertThat(act(context, orders, Map.of("action", "pause")).at("/alreadyPaused").asBoolean()).isFalse();
            assertThat(read(context, PATH, orders).at("/counts/paused").asBoolean()).isTrue();
            assertThat(act(context, orders, Map.of("action", "pause", "forTime", "10m")).at("/until").isNull())
                .isFalse();
            assertThat(act(context, orders, Map.of("action", "resume")).at("/result").asString()).isEqualTo("RESUMED");
        });
    }

    @Test
    void pausesAndResumesListeners() {
        this.writable.run((context) -> {
            Map<String, Object> all = Map.of("section", "listeners", "name", "all");
            assertThat(act(context, all, Map.of("action", "pause")).at("/paused").asBoolean()).isTrue();
            assertThat(context.getBean(DelayedListenerRegistry.class).require("all").isPaused()).isTrue();
            assertThat(act(context, all, Map.of("action", "resume")).at("/paused").asBoolean()).isFalse();
        });
    }

    @Test
    void returnsDeadLettersWithoutPayloadsAndActsOnThem() {
        this.writable.run((context) -> {
            send(context, "orders", "private 1", Duration.ZERO);
            send(context, "orders", "private 2", Duration.ZERO);
            Map<String, Object> deadLetters = Map.of("section", "dead-letters", "name", "orders");
            await().until(() -> read(context, PATH, deadLetters).at("/deadLetters").size() == 2);

            JsonNode page = read(context, PATH, deadLetters);
            assertThat(page.toString()).contains("(masked)").doesNotContain("private", "secret", "no use");
            String deadLetter = page.at("/deadLetters/0/id").asString();
            assertThat(
                    act(context, deadLetters, Map.of("action", "purge", "deadLetterId", deadLetter)).at("/deadLetters")
                        .asLong())
                .isOne();
            context.getBean(DelayQueueOperations.class).pause("orders");
            assertThat(act(context, deadLetters, Map.of("action", "redrive", "deadLetterId", "*")).at("/deadLetters")
                .asLong()).isOne();
            assertThat(read(context, PATH, deadLetters).at("/deadLetters")).isEmpty();
        });
    }

    @Test
    void returnsSchedulesWithoutPayloadsAndActsOnThem() {
        this.writable.run((context) -> {
            context.getBean(DelayQueueOperations.class)
                .schedules("orders")
                .put(ScheduleDefinition.cron("daily", "0 0 6 * * *").payload("private").build());
            Map<String, Object> schedules = Map.of("section", "schedules", "name", "orders");

            assertThat(act(context, schedules, Map.of("action", "pause", "id", "daily")).at("/result").asString())
                .isEqualTo("DONE");

            JsonNode page = read(context, PATH, schedules);
            assertThat(page.toString()).doesNotContain("private");
            assertThat(page.at("/schedules/0/name").asString()).isEqualTo("daily");
            assertThat(page.at("/schedules/0/times").asString()).isEqualTo("0 0 6 * * * Z");
            assertThat(page.at("/schedules/0/paused").asBoolean()).isTrue();
            assertThat(act(context, schedules, Map.of("action", "trigger", "id", "daily")).at("/result").asString())
                .isEqualTo("SCHEDULED");
            assertThat(act(context, schedules, Map.of("action", "resume", "id", "other")).at("/result").asString())
                .isEqualTo("NOT_FOUND");
            assertInvalid(context, Map.of("section", "schedules", "name", "orders", "action", "pause"),
                    "Name a schedule by 'id'");
        });
    }

    @Test
    void publishesAnAuditEventForEachChange() {
        this.writable.withBean(Audited.class).run((context) -> {
            Audited audited = context.getBean(Audited.class);
            act(context, Map.of("section", "queues", "name", "orders"), Map.of("action", "resume"));
            act(context, Map.of("section", "queues", "name", "orders"), Map.of("action", "pause"));
            act(context, Map.of("section", "queues", "name", "orders"), Map.of("action", "resume"));
            act(context, Map.of("section", "listeners", "name", "all"), Map.of("action", "pause"));
            act(context, Map.of("section", "dead-letters", "name", "orders"),
                    Map.of("action", "purge", "deadLetterId", "no\nline"));
            act(context, Map.of("section", "dead-letters", "name", "orders"),
                    Map.of("action", "redrive", "deadLetterId", "*"));
            assertInvalid(context, Map.of("section", "queues", "name", "orders", "action", "purge"), "PURGE");

            assertThat(audited.events).containsExactly(new AuditedOperationEvent("ada", "resume", "orders", null, 0),
                    new AuditedOperationEvent("ada", "pause", "orders", null, 1),
                    new AuditedOperationEvent("ada", "resume", "orders", null, 1),
                    new AuditedOperationEvent("ada", "pause-listener", "orders", "all", 1),
                    new AuditedOperationEvent("ada", "purge", "orders", "no?line", 0),
                    new AuditedOperationEvent("ada", "redrive", "orders", "*", 0));
            assertThat(audited.ofBoot).extracting((event) -> event.getAuditEvent().getType())
                .startsWith("delayqueue.resume", "delayqueue.pause");
        });
    }

    @Test
    void publishesAnAuditEventForAChangeThatFails() {
        this.writable.withBean(Audited.class).run((context) -> {
            for (Effect effect : List.of(Effect.UNKNOWN, Effect.NONE)) {
                DelayQueueEndpoint endpoint = new DelayQueueEndpoint(away(effect),
                        context.getBean(DelayQueueInspector.class), context.getBean(DelayedListenerRegistry.class),
                        null, null, context);
                assertThatExceptionOfType(StoreUnavailableException.class)
                    .isThrownBy(() -> endpoint.act(ADA, DelayQueueEndpoint.Section.QUEUES, "orders",
                            DelayQueueEndpoint.Action.RESUME, null, null, null, null, null, null, null));
            }

            assertThat(context.getBean(Audited.class).events).containsExactly(
                    new AuditedOperationEvent("ada", "resume", "orders", null, AuditedOperationEvent.UNKNOWN),
                    new AuditedOperationEvent("ada", "resume", "orders", null, 0, Outcome.FAILED));
        });
    }

    @Test
    void restoresQueuesThatHaveALedger() {
        Ledger ledger = new Ledger();
        this.writable.withBean(Audited.class).withBean(JournalOperations.class, () -> ledger).run((context) -> {
            Map<String, Object> orders = Map.of("section", "queues", "name", "orders");

            JsonNode counted = act(context, orders, Map.of("action", "restore", "dryRun", "true"));
            JsonNode restored = act(context, orders, Map.of("action", "restore", "rate", "100"));

            assertThat(counted).isEqualTo(restored)
                .isEqualTo(json(Map.of("restored", 3, "known", 2, "skipped", 1, "failed", 0)));
            assertThat(ledger.plans).containsExactly(RestorePlan.all().queue("orders").asDryRun(),
                    RestorePlan.all().queue("orders").rate(100));
            assertThat(context.getBean(Audited.class).events)
                .containsExactly(new AuditedOperationEvent("ada", "restore", "orders", null, 3));
            assertInvalid(context, Map.of("section", "queues", "name", "orders", "action", "restore", "rate", "-1"),
                    "Rate -1 is negative");
            assertInvalid(context, Map.of("section", "queues", "name", "others", "action", "restore"),
                    "Queue 'others' is not in mode 'ledger' in this application");
        });
        this.writable
            .run((context) -> assertInvalid(context, Map.of("section", "queues", "name", "orders", "action", "restore"),
                    "Queue 'orders' is not in mode 'ledger'"));
    }

    @Test
    void restoresSelectedMessages() {
        Ledger ledger = new Ledger();
        this.writable.withBean(Audited.class).withBean(JournalOperations.class, () -> ledger).run((context) -> {
            Map<String, Object> orders = Map.of("section", "queues", "name", "orders");

            act(context, orders, Map.of("action", "restore", "id", "order-1", "includeExpired", "true"));
            act(context, orders, Map.of("action", "restore", "dueBefore", "2026-11-22T10:36:24Z"));

            assertThat(ledger.plans).containsExactly(RestorePlan.all().queue("orders").id("order-1").withExpired(),
                    RestorePlan.all().queue("orders").dueBefore(Instant.parse("2026-11-22T10:36:24Z")));
            assertThat(context.getBean(Audited.class).events).extracting(AuditedOperationEvent::filter)
                .containsExactly("order-1", null);
            assertInvalid(context, Map.of("section", "queues", "name", "orders", "action", "restore", "id", "no id"),
                    "Message id 'no id'");
            assertInvalid(context, Map.of("section", "queues", "name", "orders", "action", "restore", "dueBefore",
                    "3001-01-01T00:00:00Z"), "Due time");
        });
    }

    private static DelayQueueOperations away(Effect effect) {
        return (DelayQueueOperations) Proxy.newProxyInstance(DelayQueueOperations.class.getClassLoader(),
                new Class<?>[] { DelayQueueOperations.class }, (proxy, method, arguments) -> {
                    throw new StoreUnavailableException("away", effect, null);
                });
    }

    @Test
    void rejectsInvalidOperations() {
        this.writable.run((context) -> {
            assertInvalid(context, Map.of("section", "queues", "name", "orders", "action", "purge"),
                    "PURGE is no action for QUEUES; use one of [PAUSE, RESUME, RESTORE]");
            assertInvalid(context, Map.of("section", "queues", "name", "<b>", "action", "pause"), "Queue name");
            assertInvalid(context, Map.of("section", "listeners", "name", "no", "action", "pause"),
                    "There is no listener 'no' on this node");
            assertInvalid(context, Map.of("section", "dead-letters", "name", "orders", "action", "purge"),
                    "Name a dead letter by 'deadLetterId', or all by '*'");
            assertInvalid(context, Map.of("section", "dead-letters", "name", "orders", "action", "purge",
                    "deadLetterId", "x".repeat(257)), "'deadLetterId' has 257 characters; at most 256 are allowed");
            assertInvalid(context, Map.of("section", "integrity", "name", "orders", "action", "purge"),
                    "PURGE is no action for INTEGRITY; use one of []");
        });
    }

    @Test
    void startsWithoutActuator() {
        // Found as Boot finds it: read, and not loaded.
        new ApplicationContextRunner().withUserConfiguration(EnabledApplication.class)
            .withPropertyValues("delayqueue.store=memory")
            .withClassLoader(new FilteredClassLoader("org.springframework.boot.actuate"))
            .run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(DelayQueueEndpoint.class));
    }

    private static void assertInvalid(ApplicationContext context, Map<String, Object> arguments, String reason) {
        assertThatExceptionOfType(InvalidEndpointRequestException.class)
            .isThrownBy(() -> invoke(context, WebEndpointHttpMethod.POST, PATH, arguments))
            .satisfies((ex) -> assertThat(ex.getReason()).startsWith(reason));
    }

    private static void send(ApplicationContext context, String queue, String payload, Duration delay) {
        context.getBean(DelayQueueOperations.class)
            .send(DelayedMessage.builder(queue, payload).delay(delay).header("h", "secret").build());
    }

    private static JsonNode read(ApplicationContext context, String path, Map<String, Object> arguments) {
        return json(invoke(context, WebEndpointHttpMethod.GET, path, arguments));
    }

    private static JsonNode act(ApplicationContext context, Map<String, Object> selectors,
            Map<String, Object> arguments) {
        Map<String, Object> all = new HashMap<>(selectors);
        all.putAll(arguments);
        return json(invoke(context, WebEndpointHttpMethod.POST, PATH, all));
    }

    private static JsonNode json(Object value) {
        return JsonMapper.shared().readTree(JsonMapper.shared().writeValueAsString(value));
    }

    private static Object invoke(ApplicationContext context, WebEndpointHttpMethod method, String path,
            Map<String, Object> arguments) {
        WebOperation operation = operations(context).stream()
            .filter((one) -> one.getRequestPredicate().getHttpMethod() == method
                    && one.getRequestPredicate().getPath().equals(path))
            .findFirst()
            .orElseThrow();
        return operation.invoke(new InvocationContext(ADA, arguments));
    }

    private static Collection<WebOperation> operations(ApplicationContext context) {
        WebEndpointDiscoverer discoverer = new WebEndpointDiscoverer(context,
                context.getBean(ParameterValueMapper.class), EndpointMediaTypes.DEFAULT, List.of(), List.of(),
                List.of(), List.of(), List.of(OperationFilter.byAccess(context.getBean(EndpointAccessResolver.class))));
        return discoverer.getEndpoints().iterator().next().getOperations();
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({ DelayQueueAutoConfiguration.class, DelayQueueListenerAutoConfiguration.class,
            DelayQueueEndpointAutoConfiguration.class })
    static class EnabledApplication {

    }

    /** Restores three messages of one queue, whatever the plan. */
    static class Ledger implements JournalOperations {

        private final List<RestorePlan> plans = new ArrayList<>();

        @Override
        public boolean covers(String queue) {
            return queue.equals("orders");
        }

        @Override
        public RestoreReport restore(RestorePlan plan) {
            this.plans.add(plan);
            return new RestoreReport(3, 2, 1, 0);
        }

        @Override
        public RestoreStep restore(RestorePlan plan, @Nullable String cursor) {
            throw new UnsupportedOperationException();
        }

    }

    static class Handler {

        @DelayedListener(id = "all", queues = "orders")
        void handle(String payload, Delivery delivery) {
            delivery.deadLetter("no use");
        }

    }

    static class Audited {

        private final List<AuditedOperationEvent> events = new ArrayList<>();

        private final List<AuditApplicationEvent> ofBoot = new ArrayList<>();

        @EventListener
        void audited(AuditedOperationEvent event) {
            this.events.add(event);
            if (this.events.size() == 1) {
                throw new IllegalStateException("A listener that fails changes nothing");
            }
        }

        @EventListener
        void audited(AuditApplicationEvent event) {
            this.ofBoot.add(event);
        }

    }

}

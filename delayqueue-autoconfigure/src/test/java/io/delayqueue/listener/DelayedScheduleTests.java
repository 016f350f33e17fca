package io.delayqueue.listener;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.Map;

import io.delayqueue.DelayedListener;
import io.delayqueue.DelayedSchedule;
import io.delayqueue.MisfirePolicy;
import io.delayqueue.OverlapPolicy;
import io.delayqueue.QueueName;
import io.delayqueue.ScheduleDefinition;
import io.delayqueue.fixtures.ManualClock;
import io.delayqueue.listener.handler.HandlerMethodFactory;
import io.delayqueue.listener.handler.InvalidListenerException;
import io.delayqueue.listener.poll.TestBed;
import io.delayqueue.memory.InMemoryMessageStore;
import io.delayqueue.observation.MessageObservations;
import io.delayqueue.store.MessageEventRecorderFactory;
import io.delayqueue.store.envelope.EnvelopeCodec;
import io.delayqueue.store.schedule.DeclaredScheduleRegistrar;
import io.delayqueue.store.schedule.DefinitionCodec;
import io.delayqueue.store.schedule.LocalSchedules;
import io.delayqueue.store.schedule.OccurrenceEvents;
import io.delayqueue.store.schedule.ScheduleState;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.support.PropertySourcesPlaceholderConfigurer;
import org.springframework.core.env.MapPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Verifies which schedules the annotations of listener methods declare. */
class DelayedScheduleTests {

    private static final EnvelopeCodec CODEC = new EnvelopeCodec(JsonMapper.builder().build());

    private final InMemoryMessageStore store = new InMemoryMessageStore(CODEC, new ManualClock());

    private final LocalSchedules schedules = new LocalSchedules(this.store.schedules(), CODEC,
            LocalSchedules.MISFIRE_THRESHOLD, "reporting app");

    private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();

    @AfterEach
    void close() {
        this.context.close();
    }

    private DelayedListenerRegistry start(Class<?> bean) {
        this.context.getEnvironment()
            .getPropertySources()
            .addFirst(new MapPropertySource("test",
                    Map.of("cron", "0 0 6 * * *", "zone", "Europe/Berlin", "time", "90s", "policy", "ALL")));
        this.context.registerBean("registry", DelayedListenerRegistry.class,
                () -> new DelayedListenerRegistry((queue) -> TestBed.settings(),
                        new HandlerMethodFactory(CODEC, null, MessageObservations.NONE),
                        MessageEventRecorderFactory.NONE));
        this.context.registerBean("delayedListenerPostProcessor", DelayedListenerAnnotationBeanPostProcessor.class,
                () -> new DelayedListenerAnnotationBeanPostProcessor(
                        this.context.getBeanProvider(DelayedListenerRegistry.class), (system) -> null,
                        (system) -> this.schedules));
        this.context.registerBean(PropertySourcesPlaceholderConfigurer.class);
        this.context.registerBean("bean", bean);
        this.context.refresh();
        return this.context.getBean(DelayedListenerRegistry.class);
    }

    private ScheduleState stored(String queue, String name) {
        QueueName queueName = new QueueName(queue);
        new DeclaredScheduleRegistrar(this.schedules, queueName, OccurrenceEvents.NONE, Runnable::run).assertAll()
            .join();
        return this.store.schedules().find(queueName, name).join().state();
    }

    private ScheduleDefinition definition(String queue, String name) {
        return new DefinitionCodec(CODEC).read(name, stored(queue, name).definition());
    }

    @Test
    void anAnnotationOnAListenerDeclaresAScheduleOfItsQueue() {
        start(OnListener.class);

        ScheduleDefinition definition = definition("reports", "daily");

        assertThat(definition).usingRecursiveComparison()
            .isEqualTo(ScheduleDefinition.cron("daily", "0 0 6 * * *")
                .zone(ZoneId.of("Europe/Berlin"))
                .payload(Map.of("customer", 42))
                .misfire(MisfirePolicy.ALL)
                .catchUpLimit(7)
                .timeToLive(Duration.ofSeconds(90))
                .overlap(OverlapPolicy.SKIP)
                .jitter(Duration.ofSeconds(2))
                .build());
        assertThat(definition("reports", "hourly").fixedRate()).contains(Duration.ofHours(1));
        assertThat(stored("reports", "daily").application()).isEqualTo("reporting app");
    }

    @Test
    void anAnnotationAloneImpliesTheListener() {
        DelayedListenerRegistry registry = start(Alone.class);

        assertThat(registry.require("bean.handle").queues()).containsExactly("alone");
        assertThat(definition("alone", "nightly").cron()).contains("0 0 2 * * *");
    }

    @Test
    void aDashDisablesASchedule() {
        start(Disabled.class);

        assertThat(stored("reports", "daily").next()).isEqualTo(ScheduleState.NONE);
    }

    @Test
    void aDeclarationThatIsNotValidFailsTheStart() {
        assertThatThrownBy(() -> start(NoTimes.class)).hasRootCauseInstanceOf(IllegalArgumentException.class)
            .hasStackTraceContaining("cron or fixedRate is needed");
    }

    @Test
    void aScheduleOfAListenerWithSeveralQueuesNamesOne() {
        assertThatThrownBy(() -> start(SeveralQueues.class)).isInstanceOf(InvalidListenerException.class)
            .hasMessageContaining("@DelayedSchedule 'daily': queue is needed, as the listener has several");
    }

    @Test
    void aPayloadThatIsNoJsonFailsTheStart() {
        assertThatThrownBy(() -> start(NoJson.class)).isInstanceOf(InvalidListenerException.class)
            .hasMessageContaining("payload must be JSON");
    }

    @Test
    void twoSchedulesOfAQueueHaveTwoNames() {
        assertThatThrownBy(() -> start(SameName.class)).isInstanceOf(InvalidListenerException.class)
            .hasMessageContaining("name must be unique in queue 'reports'");
    }

    @Test
    void aPolicyThatDoesNotExistFailsTheStart() {
        assertThatThrownBy(() -> start(NoPolicy.class)).isInstanceOf(InvalidListenerException.class)
            .hasMessageContaining("misfire must be one of [ONCE, SKIP, ALL], but was 'TWICE'");
    }

    @Test
    void aScheduleThatTheStoreHasLostIsStoredAgainAndTheGapRecorded() {
        ManualClock clock = new ManualClock();
        InMemoryMessageStore emptied = new InMemoryMessageStore(CODEC, clock);
        LocalSchedules declared = new LocalSchedules(emptied.schedules(), CODEC, LocalSchedules.MISFIRE_THRESHOLD,
                "app");
        QueueName queue = new QueueName("reports");
        declared.declare(queue, ScheduleDefinition.fixedRate("minutely", Duration.ofMinutes(1)).build(), "{}");
        DeclaredScheduleRegistrar asserter = new DeclaredScheduleRegistrar(declared, queue, OccurrenceEvents.NONE,
                Runnable::run);
        asserter.assertAll().join();
        Instant first = clock.now().plusSeconds(60);
        emptied.clear();
        clock.advance(Duration.ofMinutes(3).plusSeconds(1));

        asserter.assertAll().join();

        assertThat(emptied.schedules().find(queue, "minutely").join()).satisfies((found) -> {
            assertThat(found.state().next()).isEqualTo(first.plusSeconds(180).toEpochMilli());
            assertThat(found.skips().skips()).singleElement().satisfies((skip) -> {
                assertThat(skip.reason()).isEqualTo(io.delayqueue.SkipReason.DATA_LOSS);
                assertThat(skip.first()).isEqualTo(first);
                assertThat(skip.count()).isEqualTo(3);
            });
        });
    }

    static class OnListener {

        @DelayedListener("reports")
        @DelayedSchedule(name = "daily", cron = "${cron}", zone = "${zone}", payload = "{\"customer\":42}",
                misfire = "${policy}", catchUpLimit = "#{3 + 4}", timeToLive = "${time}", overlap = "SKIP",
                jitter = "2s")
        @DelayedSchedule(name = "hourly", fixedRate = "1h", queue = "reports")
        void handle(Object payload) {
        }

    }

    static class Alone {

        @DelayedSchedule(name = "nightly", cron = "0 0 2 * * *", queue = "alone")
        void handle() {
        }

    }

    static class Disabled {

        @DelayedListener("reports")
        @DelayedSchedule(name = "daily", cron = "-")
        void handle() {
        }

    }

    static class NoTimes {

        @DelayedListener("reports")
        @DelayedSchedule(name = "daily")
        void handle() {
        }

    }

    static class SeveralQueues {

        @DelayedListener({ "reports", "others" })
        @DelayedSchedule(name = "daily", fixedRate = "1d")
        void handle() {
        }

    }

    static class NoJson {

        @DelayedListener("reports")
        @DelayedSchedule(name = "daily", fixedRate = "1d", payload = "{customer}")
        void handle() {
        }

    }

    static class SameName {

        @DelayedListener("reports")
        @DelayedSchedule(name = "daily", fixedRate = "1d")
        @DelayedSchedule(name = "daily", fixedRate = "2d")
        void handle() {
        }

    }

    static class NoPolicy {

        @DelayedListener("reports")
        @DelayedSchedule(name = "daily", fixedRate = "1d", misfire = "TWICE")
        void handle() {
        }

    }

}

package io.delayqueue.web.api;

import java.time.Duration;
import java.time.ZoneId;
import java.util.Map;
import java.util.Optional;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedListener;
import io.delayqueue.DelayedSchedule;
import io.delayqueue.MisfirePolicy;
import io.delayqueue.OverlapPolicy;
import io.delayqueue.ScheduleDefinition;
import io.delayqueue.ScheduleOperations;
import io.delayqueue.admin.AuditedOperationEvent;
import io.delayqueue.web.consume.ApiServer;
import io.delayqueue.web.consume.ApiServer.Reply;
import org.assertj.core.groups.Tuple;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Tests that senders put schedules, and which definitions are rejected. */
@Tag("server")
class SchedulePutRoutesTests {

    private static final String LIST = ApiServer.PATH + "/queues/put-reports/schedules";

    private static final String ONE = LIST + "/by-name?name=customer/42";

    private static final String DAILY = "{\"cron\": \"0 0 6 * * *\", \"payload\": {\"card\": 4711}}";

    private final ApiServer server = ApiServer.shared();

    private final ScheduleOperations schedules = this.server.bean(DelayQueueOperations.class).schedules("put-reports");

    @AfterEach
    void remove() {
        this.schedules.remove("customer/42");
    }

    private Reply put(String body) {
        return this.server.call("send", "PUT", ONE, body);
    }

    private static String result(Reply reply) {
        return reply.json().path("result").asString();
    }

    @Test
    void aNewScheduleIsCreatedAtItsLocation() {
        Reply reply = put(DAILY);

        assertThat(reply.status()).isEqualTo(201);
        assertThat(result(reply)).isEqualTo("CREATED");
        assertThat(reply.header("Location")).isEqualTo("by-name?name=customer%2F42");
        Reply found = this.server.get(LIST + "/" + reply.header("Location"));
        assertThat(found.json().at("/schedule/name").asString()).isEqualTo("customer/42");
        assertThat(found.json().at("/schedule/payload/card").asInt()).isEqualTo(4711);
    }

    @Test
    void theSameDefinitionAgainChangesNothingAndAnotherOneReplacesIt() {
        put(DAILY);

        Reply repeated = put(DAILY);
        Reply replaced = put(DAILY.replace("4711", "4712"));

        assertThat(repeated.status()).isEqualTo(200);
        assertThat(result(repeated)).isEqualTo("UNCHANGED");
        assertThat(replaced.status()).isEqualTo(200);
        assertThat(result(replaced)).isEqualTo("REPLACED");
        assertThat(this.server.audited().stream().filter((event) -> "customer/42".equals(event.filter())))
            .extracting(AuditedOperationEvent::operation, AuditedOperationEvent::count)
            .endsWith(Tuple.tuple("put-schedule", 1L), Tuple.tuple("put-schedule", 0L),
                    Tuple.tuple("replace-schedule", 1L));
    }

    @Test
    void everyAttributeArrives() {
        put("""
                {"cron": "0 0 6 * * MON-FRI", "zone": "Europe/Berlin", "misfire": "ALL", "catchUpLimit": 10,
                 "overlap": "QUEUE", "timeToLiveMillis": 3600000, "jitterMillis": 5000, "priority": 9}""");

        ScheduleDefinition stored = this.schedules.find("customer/42").orElseThrow().definition();
        assertThat(stored).returns(Optional.of("0 0 6 * * MON-FRI"), ScheduleDefinition::cron)
            .returns(ZoneId.of("Europe/Berlin"), ScheduleDefinition::zone)
            .returns(MisfirePolicy.ALL, ScheduleDefinition::misfire)
            .returns(10, ScheduleDefinition::catchUpLimit)
            .returns(OverlapPolicy.QUEUE, ScheduleDefinition::overlap)
            .returns(Optional.of(Duration.ofHours(1)), ScheduleDefinition::timeToLive)
            .returns(Duration.ofSeconds(5), ScheduleDefinition::jitter)
            .returns(9, ScheduleDefinition::priority)
            .returns(Map.of(), ScheduleDefinition::payload);
        Reply found = this.server.get(ONE);
        assertThat(found.json().at("/schedule/timeToLiveMillis").asLong()).isEqualTo(3_600_000);
        assertThat(found.json().at("/schedule/jitterMillis").asLong()).isEqualTo(5_000);
        assertThat(found.json().at("/schedule/priority").asInt()).isEqualTo(9);
    }

    @Test
    void anAttributeThatIsLeftOutHasItsDefaultAgain() {
        put("{\"fixedRateMillis\": 60000, \"priority\": 9}");

        put("{\"fixedRateMillis\": 60000}");

        ScheduleDefinition stored = this.schedules.find("customer/42").orElseThrow().definition();
        assertThat(stored.priority()).isEqualTo(4);
        assertThat(stored.fixedRate()).contains(Duration.ofMinutes(1));
    }

    @Test
    void aPauseOutlivesANewDefinition() {
        put(DAILY);
        this.schedules.pause("customer/42");

        put(DAILY.replace("0 0 6", "0 0 7"));

        assertThat(this.schedules.find("customer/42").orElseThrow().paused()).isTrue();
    }

    /** It is read at each step, and counts in no limit of a payload. */
    @Test
    void aCronExpressionHasALimit() {
        Reply reply = put("{\"cron\": \"%s * * * * *\"}".formatted("0,".repeat(2000) + "0"));

        assertThat(reply.status()).isEqualTo(400);
        assertThat(reply.detail()).contains("it has 4011 characters, and at most 1000 are possible")
            .hasSizeLessThan(400);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', value = {
            "{}|Fields 'cron' and 'fixedRateMillis' are both not there; use one of them",
            "{\"cron\": \"@daily\", \"fixedRateMillis\": 1000}|Fields 'cron' and 'fixedRateMillis' are both there",
            "{\"cron\": \"every day\"}|Cron expression 'every day' is not valid: use six fields",
            "{\"fixedRateMillis\": 99}|Fixed rate 99 ms is not valid: use whole milliseconds, at least 100",
            "{\"cron\": \"@daily\", \"zone\": \"Mars\"}|Field 'zone' is not valid: use a time zone such as Europe/Berlin, not 'Mars'",
            "{\"cron\": \"@daily\", \"misfire\": \"TWICE\"}|Field 'misfire' is not valid: use one of [ONCE, SKIP, ALL], not 'TWICE'",
            "{\"cron\": \"@daily\", \"catchUpLimit\": 1001}|Catch-up limit 1001 is not valid: use 1 to 1000",
            "{\"cron\": \"@daily\", \"timeToLiveMillis\": 0}|Time to live 0 s is not valid",
            "{\"cron\": \"@daily\", \"jitterMillis\": -1}|Field 'jitterMillis' is not valid: use 0 to",
            "{\"cron\": \"@daily\", \"priority\": 10}|Priority 10 is not valid: use 0 (last) to 9 (first)",
            "{\"cron\": \"@daily\", \"owner\": \"shop\"}|Field 'owner' is not known: use catchUpLimit, cron" })
    void aProblemNamesTheValueAndTheRule(String body, String detail) {
        Reply reply = put(body);

        assertThat(reply.status()).isEqualTo(400);
        assertThat(reply.problem()).isEqualTo("invalid");
        assertThat(reply.detail()).startsWith(detail);
        assertThat(this.schedules.find("customer/42")).isEmpty();
    }

    @Test
    void aNameAndASizeAreChecked() {
        assertThat(this.server.call("send", "PUT", LIST + "/by-name?name=not%20valid", DAILY).detail())
            .startsWith("Schedule name 'not valid' is not valid");
        assertThat(this.server.call("send", "PUT", LIST + "/by-name", DAILY).detail())
            .isEqualTo("Query parameter 'name' is needed");
        Reply large = put(DAILY.replace("4711", "\"" + "x".repeat(600_000) + "\""));
        assertThat(large.status()).isEqualTo(400);
        assertThat(large.detail()).contains("is too large");
    }

    @Test
    void asManyOfTheNextTimesAreReturnedAsRequested() {
        put(DAILY);

        assertThat(this.server.get(ONE + "&times=3").json().path("following")).hasSize(3);
        assertThat(this.server.get(ONE + "&times=1001").detail())
            .isEqualTo("Query parameter 'times' is not valid: use 1 to 1000, not '1001'");
    }

    @Test
    void aScheduleThatAnApplicationDeclaresIsNeitherReplacedNorRemoved() {
        try (ApiServer declaring = ApiServer.start(Declaring.class, "spring.application.name=shop")) {
            // The application declares it on another thread.
            await().until(() -> declaring.operations().schedules("declared").find("nightly").isPresent());
            Reply reply = declaring.call("send", "PUT",
                    ApiServer.PATH + "/queues/declared/schedules/by-name?name=nightly", DAILY);

            assertThat(reply.status()).isEqualTo(409);
            assertThat(reply.problem()).isEqualTo("schedule-declared");
            assertThat(reply.detail()).isEqualTo(
                    "Schedule 'nightly' of queue 'declared' is not valid: application 'shop' declares a schedule of that name");
            Reply removed = declaring.call("operate", "DELETE",
                    ApiServer.PATH + "/queues/declared/schedules/by-name?name=nightly", null);
            assertThat(result(removed)).isEqualTo("DECLARED");
            assertThat(declaring.operations().schedules("declared").find("nightly").orElseThrow().owner())
                .isEqualTo("shop");
        }
    }

    /** Declares a schedule. */
    @Configuration(proxyBeanMethods = false)
    @Import(ApiServer.Application.class)
    static class Declaring {

        @Bean
        Handlers handlers() {
            return new Handlers();
        }

    }

    static class Handlers {

        @DelayedListener("declared")
        @DelayedSchedule(name = "nightly", cron = "0 0 2 * * *")
        void run() {
        }

    }

}

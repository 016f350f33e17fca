package io.delayqueue.web;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import io.delayqueue.actuator.DelayQueueEndpoint;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisCluster;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.redis.RedisUser;
import io.delayqueue.web.consume.ApiServer;
import io.delayqueue.web.consume.ApiServer.Reply;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Checks that a queue that cannot be read hides no others. */
@ExtendWith(OutputCaptureExtension.class)
@Tag("server")
@Tag("matrix")
class BrokenQueueTests {

    private static final String DASHBOARD = "/delayqueue/data/";

    private static ApiServer start(String... properties) {
        return ApiServer
            .start(RedisUser.asAsked(Stream
                .concat(Stream.of("delayqueue.store=redis", "delayqueue.namespace=broken-queue",
                        "delayqueue.web.dashboard.enabled=true",
                        "management.endpoints.web.exposure.include=delayqueue"), Stream.of(properties))
                .toArray(String[]::new)));
    }

    @Test
    void aKeyOfAnotherTypeHidesOnlyItsQueue(CapturedOutput output) {
        RedisServer redis = RedisServer.shared(RedisBinary.REDIS_7_0);
        try (ApiServer server = start("spring.data.redis.port=" + redis.port())) {
            server.operations().send("sound", "x", Duration.ofHours(1));
            server.operations().send("broken", "x", Duration.ofHours(1));
            await().until(() -> server.get(ApiServer.PATH + "/queues").json().path("queues").size() == 2);
            redis.commands().del("broken-queue:{broken}:scheduled");
            redis.commands().set("broken-queue:{broken}:scheduled", "no sorted set");

            for (int i = 0; i < 5; i++) {
                assertThat(failed(server)).containsExactly("api broken", "dashboard broken", "endpoint broken");
                assertThat(server.get(ApiServer.PATH + "/queues/broken").problem()).isEqualTo("store-refused");
            }
            JsonNode failure = server.get(ApiServer.PATH + "/queues").json().at("/failures/0");
            assertThat(failure.path("type").asString()).isEqualTo("urn:delayqueue:problem:store-refused");
            assertThat(failure.path("detail").asString()).contains("WRONGTYPE");
            assertThat(server.get(DASHBOARD + "overview").json().path("alerts").toString()).contains("cannot be read",
                    "\"queue\":\"broken\"", "WRONGTYPE");
            assertThat(lines(output, "Cannot read queue 'broken'")).hasSize(1);
            assertThat(lines(output, "/queues/broken")).as("of requests for it").hasSize(1);
            assertThat(lines(output, "\tat io.lettuce")).as("stack traces").isEmpty();

            redis.commands().del("broken-queue:{broken}:scheduled");
            await().untilAsserted(() -> assertThat(failed(server)).isEmpty());
            assertThat(lines(output, "Can read queue 'broken' again")).hasSize(1);
        }
        finally {
            redis.commands().del(redis.commands().keys("broken-queue:*").toArray(String[]::new));
        }
    }

    /** Also logs each unreadable queue once. */
    @Test
    void aDeadMasterHidesOnlyItsQueues(CapturedOutput output) {
        try (RedisCluster cluster = RedisCluster.start(RedisBinary.preferred(), 0, "cluster-require-full-coverage no");
                ApiServer server = start("spring.data.redis.cluster.nodes=" + String.join(",", cluster.nodes()),
                        "delayqueue.command-timeout=1s")) {
            List<String> queues = Stream.of("a", "b", "c", "d", "e", "f", "g", "h").toList();
            queues.forEach((queue) -> server.operations().send(queue, "x", Duration.ofHours(1)));
            await().until(() -> server.get(ApiServer.PATH + "/queues").json().path("queues").size() == queues.size());
            for (RedisServer dead : cluster.masters()) {
                List<String> on = queues.stream()
                    .filter((queue) -> cluster.masterOf("broken-queue:{" + queue + "}:scheduled").equals(dead))
                    .toList();
                assertThat(on).isNotEmpty().isNotEqualTo(queues);
                dead.suspend();
                try {
                    await().untilAsserted(() -> assertThat(failed(server))
                        .containsExactlyElementsOf(Stream.of("api ", "dashboard ", "endpoint ")
                            .flatMap((by) -> on.stream().map((queue) -> by + queue))
                            .toList()));
                }
                finally {
                    dead.resume();
                }
                await().untilAsserted(() -> assertThat(failed(server)).isEmpty());
            }
            queues.forEach((queue) -> assertThat(lines(output, "Cannot read queue '" + queue + "'")).hasSize(1));
        }
    }

    /** Returns the queues that cannot be read. */
    private static List<String> failed(ApiServer server) {
        List<String> failed = new ArrayList<>();
        Reply api = server.get(ApiServer.PATH + "/queues");
        assertThat(api.status()).as(api.body()).isEqualTo(200);
        note("api", api.json(), failed);
        Reply dashboard = server.get(DASHBOARD + "overview");
        assertThat(dashboard.status()).as(dashboard.body()).isEqualTo(200);
        note("dashboard", dashboard.json(), failed);
        note("endpoint", JsonMapper.shared().valueToTree(server.bean(DelayQueueEndpoint.class).overview(null, null)),
                failed);
        return failed;
    }

    private static void note(String by, JsonNode answer, List<String> failed) {
        answer.path("failures").forEach((failure) -> {
            String queue = failure.path("queue").asString();
            failed.add(by + " " + queue);
            assertThat(answer.path("queues").toString()).doesNotContain("\"queue\":\"" + queue + "\"");
        });
        assertThat(answer.path("queues").size()).isPositive();
    }

    private static List<String> lines(CapturedOutput output, String text) {
        return output.getAll().lines().filter((line) -> line.contains(text)).toList();
    }

}

package io.delayqueue.integration.outage;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.fixtures.application.Applications;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.redis.ReplyLossProxy;
import io.delayqueue.fixtures.store.ScheduleValues;
import io.delayqueue.redis.RedisScheduleStore;
import io.delayqueue.redis.RedisScriptExecutor;
import io.delayqueue.redis.script.LoadedScripts;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * P11: every script there is, run by Redis, its answer lost, and run again by the client,
 * with many messages and with groups; and P1 where Redis refuses the second run.
 */
@Tag("server")
class ReplayedScriptTests {

    private final RedisServer redis = RedisServer.shared(RedisBinary.preferred());

    @RegisterExtension
    final Applications applications = new Applications();

    private ReplayedApplication replayed;

    static Set<String> scripts() {
        return LoadedScripts.texts().keySet();
    }

    @BeforeEach
    void start() {
        this.replayed = ReplayedApplication.start(this.redis, this.applications);
    }

    @AfterEach
    void stop() {
        this.replayed.close();
        assertThat(this.applications.keys(this.redis)).allMatch((key) -> key.endsWith(":partitions"));
    }

    private Map<String, Runnable> cases() {
        ReplayedSendCases sends = new ReplayedSendCases(this.replayed);
        ReplayedScheduleCases schedules = new ReplayedScheduleCases(
                new RedisScheduleStore(this.replayed.bean(RedisScriptExecutor.class)), this.replayed::repeated);
        Map<String, Runnable> cases = new TreeMap<>();
        Stream
            .of(sends, new ReplayedLeaseCases(this.replayed), new ReplayedDeadLetterCases(this.replayed),
                    new ReplayedInspectionCases(this.replayed), new ReplayedSystemCases(this.replayed))
            .forEach((group) -> cases.putAll(group.cases()));
        cases.put("fire-schedules", () -> {
            schedules.aFiring();
            sends.cancelled(ScheduleValues.id(0));
        });
        cases.put("change-schedule", schedules::aChange);
        cases.put("declare-schedules", () -> {
            schedules.aDeclaration();
            String stem = this.applications.namespace() + ":{orders}:";
            this.redis.commands().del(stem + "schedule-declarations", stem + "schedule-owners");
        });
        cases.put("schedules", schedules::aLook);
        cases.put("resign-firing-node", () -> {
            schedules.aResignation();
            sends.cancelled(ScheduleValues.id(0));
        });
        return cases;
    }

    @ParameterizedTest
    @MethodSource("scripts")
    void isRunTwiceAndLeavesTheStateOfOneRun(String script) {
        Map<String, Runnable> cases = cases();
        assertThat(cases).as("a case for each script").containsKey(script);

        cases.get(script).run();
    }

    @Test
    void aRejectedSecondRunIsNotReportedAsWithoutEffect() {
        try (RedisServer own = RedisServer.start(RedisBinary.preferred());
                ReplyLossProxy between = new ReplyLossProxy(own.port())) {
            DelayQueueOperations sender = this.applications
                .start(Applications.SenderConfiguration.class, Applications.at(between.port()))
                .queue();
            sender.send(ReplayedCases.plain(1, ReplayedCases.FAR).get(0).toBuilder().id("first").build());
            between.next(LoadedScripts.sha("send"), () -> own.commands().configSet("maxmemory", "1"));

            assertThatExceptionOfType(StoreRefusedException.class)
                .isThrownBy(() -> sender
                    .send(ReplayedCases.plain(1, ReplayedCases.FAR).get(0).toBuilder().id("second").build()))
                .withMessageContaining("OOM")
                .withMessageContaining("may have taken effect")
                .satisfies((ex) -> assertThat(ex.effect()).isEqualTo(Effect.UNKNOWN));
            assertThat(sender.find("orders", "second")).isPresent();
            assertThatExceptionOfType(StoreRefusedException.class).isThrownBy(
                    () -> sender.send(ReplayedCases.plain(1, ReplayedCases.FAR).get(0).toBuilder().id("third").build()))
                .satisfies((ex) -> assertThat(ex.effect()).isEqualTo(Effect.NONE));
            this.applications.close();
        }
    }

}

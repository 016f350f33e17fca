package io.delayqueue.integration.startup;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.delayqueue.fixtures.application.Application;
import io.delayqueue.fixtures.application.Applications;
import io.delayqueue.fixtures.application.OrderHandler.Order;
import io.delayqueue.fixtures.redis.EngineProxy;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.redis.UnsuitableRedisException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContextException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A server that only resembles Redis fails the start where messages would be lost,
 * handled twice or never be due on it, and the report names the reason and the page (P1,
 * P2, P5).
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("server")
class OtherEnginesIntegrationTests {

    private static final Path PAGE = Path.of("..", "docs", "internals", "compatibility.md");

    private static final Pattern ANCHOR = Pattern.compile("docs/internals/compatibility\\.md#([a-z-]+)");

    @RegisterExtension
    final Applications applications = new Applications();

    private final RedisServer redis = RedisServer.shared(RedisBinary.preferred());

    @ParameterizedTest
    @CsvSource({ "0, 0, answered 0 µs", "1577836799, 999999, answered 1577836799999999 µs",
            "1790000000000, 0, answered 1790000000000000000 µs" })
    void aServerWhoseScriptsSeeNoTimeFailsTheStart(String seconds, String micros, String named, CapturedOutput output)
            throws Exception {
        assertRefused(EngineProxy.answering(this.redis,
                "if word == 'TIME' then return { '%s', '%s' } end".formatted(seconds, micros)), output, named);
    }

    @Test
    void aServerWhoseScriptsSeeOneTimeForEverFailsTheStart(CapturedOutput output) throws Exception {
        assertRefused(EngineProxy.answering(this.redis, "if word == 'TIME' then return { '1790000000', '000007' } end"),
                output, "stands still", "1790000000000007 µs");
    }

    @Test
    void aClockThatGoesForwardByMillisecondsIsAccepted() throws Exception {
        try (EngineProxy dragonfly = EngineProxy.answering(this.redis, """
                if word == 'TIME' then
                  local time = server.call('TIME')
                  return { time[1], string.sub(time[2], 1, -4) .. '000' }
                end""")) {
            Application application = start(dragonfly);
            application.queue().send("orders", new Order(1), Duration.ZERO);
            assertThat(application.handler().next().number()).isEqualTo(1);
            this.applications.close();
        }
    }

    /**
     * It does not report whether its scripts are atomic, and by default they are not.
     */
    @Test
    void garnetFailsTheStart(CapturedOutput output) throws Exception {
        assertRefused(EngineProxy.answering(this.redis, """
                if word == 'INFO' and (...) == 'server' then
                  return '# Server\\r\\ngarnet_version:1.1.1\\r\\nserver_name:garnet\\r\\nredis_version:7.4.3\\r\\n'
                end"""), output, "Garnet 1.1.1", "atomic");
    }

    @Test
    void keyDbThatFollowsAnotherMasterFailsTheStart(CapturedOutput output) throws Exception {
        assertRefused(EngineProxy.answering(this.redis, """
                if word == 'INFO' and (...) == 'replication' then
                  return '# Replication\\r\\nrole:active-replica\\r\\nconnected_masters:1\\r\\n'
                end"""), output, "active replica");
    }

    private static final String KEYDB = """
            if word == 'INFO' and (...) == 'server' then
              return '# Server\\r\\nredis_version:6.3.4\\r\\nexecutable:/usr/local/bin/keydb-server\\r\\n'
                .. 'config_file:\\r\\navailability_zone:\\r\\nfeatures:cluster_mget\\r\\n'
            end""";

    @Test
    void keyDbThatMayBecomeAnActiveReplicaFailsTheStart(CapturedOutput output) throws Exception {
        assertRefused(EngineProxy.answering(this.redis, KEYDB, "active-replica", "yes"), output, "active-replica");
    }

    @Test
    void keyDbWithoutActiveReplicasIsAccepted() throws Exception {
        try (EngineProxy keyDb = EngineProxy.answering(this.redis, KEYDB, "active-replica", "no")) {
            Application application = start(keyDb);
            application.queue().send("orders", new Order(1), Duration.ZERO);
            assertThat(application.handler().next().number()).isEqualTo(1);
            this.applications.close();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = { "ERR This instance has Lua scripting support disabled",
            "ERR unknown command 'EVALSHA', with args beginning with: 'f'", "ERR Could not find scripting engine 'lua'",
            "ERR command eval not support for normal user" })
    void aServerWithoutScriptsFailsTheStart(String error, CapturedOutput output) throws Exception {
        assertRefused(EngineProxy.refusing(this.redis, Set.of("EVAL", "EVALSHA", "SCRIPT"), error), output, error,
                "does not run Lua scripts");
    }

    @Test
    void aProxyThatRefusesLocalNamesFailsTheStartWithTheSettingThatAllowsThem(CapturedOutput output) throws Exception {
        String error = "ERR bad lua script for redis cluster, all the keys that the script uses should be passed using "
                + "the KEYS array, and KEYS should not be in expression";
        assertRefused(EngineProxy.refusing(this.redis, Set.of("EVAL", "EVALSHA"), error), output, error,
                "script_check_enable", "to 0");
    }

    @Test
    void aServerWhoseScriptsMayNotCallACommandFailsTheStart(CapturedOutput output) throws Exception {
        assertRefused(EngineProxy.answering(this.redis, """
                if word == 'TIME' then
                  return server.error_reply('ERR This Redis command is not allowed from script')
                end"""), output, "TIME: ERR This Redis command is not allowed from script",
                "does not let scripts call a command");
    }

    private void assertRefused(EngineProxy engine, CapturedOutput output, String... named) throws IOException {
        try (engine) {
            assertThatExceptionOfType(ApplicationContextException.class).isThrownBy(() -> start(engine))
                .withRootCauseInstanceOf(UnsuitableRedisException.class);
        }
        assertThat(output.getAll()).contains("APPLICATION FAILED TO START").contains(named);
        Matcher anchor = ANCHOR.matcher(output.getAll());
        assertThat(anchor.find()).as("it names the page").isTrue();
        assertThat(Files.readString(PAGE)
            .lines()
            .filter((line) -> line.startsWith("#"))
            .map((line) -> line.replaceFirst("#+ ", "").toLowerCase().replaceAll("[^a-z ]", "").replace(' ', '-')))
            .contains(anchor.group(1));
    }

    private Application start(EngineProxy engine) {
        return this.applications.start(Applications.HandlerConfiguration.class, Applications.at(engine.port()));
    }

}

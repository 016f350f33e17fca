package io.delayqueue.integration.startup;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.fixtures.LogCount;
import io.delayqueue.fixtures.application.Application;
import io.delayqueue.fixtures.application.Applications;
import io.delayqueue.fixtures.application.OrderHandler.Order;
import io.delayqueue.fixtures.redis.RedisUser;
import io.delayqueue.fixtures.redis.TlsRedisServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * An application whose Redis is behind TLS and a password: Boot's properties suffice,
 * wake-ups included, and the exception names a wrong one.
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("server")
class TlsIntegrationTests {

    private static TlsRedisServer redis;

    @RegisterExtension
    final Applications applications = new Applications();

    @BeforeAll
    static void start() {
        redis = TlsRedisServer.start();
    }

    @AfterAll
    static void stop() {
        if (redis != null) {
            redis.close();
        }
    }

    @Test
    void sendsAndHandlesByABundleOfCertificates() throws Exception {
        RedisUser.set(redis.plain(), "shop", RedisUser.in(this.applications.namespace(), RedisUser.documented()));
        Application application = start(redis.trusted(), RedisUser.PASSWORD, Applications.NO_SAFETY_POLL);

        application.queue().send("orders", new Order(1), Duration.ofMillis(300));

        assertThat(application.handler().next().number()).isEqualTo(1);
        this.applications.assertNoKeysLeft(redis.plain());
        assertThat(redis.plain().commands().clientList()).contains("user=shop");
    }

    @Test
    void aCertificateThatIsNotTrustedIsWarnedOfAndNothingIsSent(CapturedOutput output) {
        RedisUser.set(redis.plain(), "shop", RedisUser.in(this.applications.namespace(), RedisUser.documented()));
        Application application = start(TlsRedisServer.certificate(), RedisUser.PASSWORD);

        assertThat(LogCount.of(output, "WARN", "Redis is not reachable")).isEqualTo(1);
        assertThatExceptionOfType(StoreUnavailableException.class)
            .isThrownBy(() -> application.queue().send("orders", new Order(1), Duration.ZERO))
            .withMessageContaining("No connection to Redis")
            .withMessageContaining("certification path")
            .satisfies((ex) -> assertThat(ex.effect()).isEqualTo(Effect.NONE));
        assertThat(this.applications.keys(redis.plain())).isEmpty();
    }

    @Test
    void aPasswordThatIsWrongFailsTheStart(CapturedOutput output) {
        RedisUser.set(redis.plain(), "shop", RedisUser.in(this.applications.namespace(), RedisUser.documented()));

        assertThatExceptionOfType(RuntimeException.class).isThrownBy(() -> start(redis.trusted(), "guess"));

        assertThat(output.getAll()).contains("Redis does not let this user in", "spring.data.redis.password")
            .doesNotContain("guess");
    }

    private Application start(Path trusted, String password, String... more) {
        String[] properties = { "spring.ssl.bundle.pem.redis.truststore.certificate=" + trusted.toUri(),
                "spring.data.redis.ssl.bundle=redis", "spring.data.redis.username=shop",
                "spring.data.redis.password=" + password };
        String[] all = Arrays.copyOf(properties, properties.length + more.length);
        System.arraycopy(more, 0, all, properties.length, more.length);
        return this.applications.start(Applications.HandlerConfiguration.class, Applications.at(redis.port(), all));
    }

}

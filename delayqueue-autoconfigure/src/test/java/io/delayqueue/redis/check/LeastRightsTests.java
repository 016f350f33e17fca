package io.delayqueue.redis.check;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.delayqueue.QueueName;
import io.delayqueue.fixtures.LogCount;
import io.delayqueue.fixtures.redis.ConnectionFactories;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.redis.RedisUser;
import io.delayqueue.redis.RedisScriptExecutor;
import io.delayqueue.redis.UnsuitableRedisException;
import io.delayqueue.redis.wakeup.RedisWakeUps;
import io.delayqueue.redis.wakeup.WakeUpMode;
import io.delayqueue.store.Partition;
import io.delayqueue.store.WakeUps;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.RedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The rights in the documentation are enough, and none of them is too much: without any
 * of them the start of an application fails or warns.
 */
@Tag("server")
class LeastRightsTests {

    private static final String USER = "shop";

    /** For checks and clients of which some do without; see the documentation. */
    private static final List<String> NOT_MISSED = List.of("+hello", "+ping", "+unsubscribe", "+info");

    private final Logger logger = (Logger) LoggerFactory.getLogger("io.delayqueue");

    private final ListAppender<ILoggingEvent> log = new ListAppender<>();

    @Test
    void eachOfThemIsNeeded() {
        List<String> rules = RedisUser.documented();
        List<String> missed = new ArrayList<>();
        try (RedisServer server = RedisServer.start(RedisBinary.preferred())) {
            assertThat(problems(server, rules)).isEmpty();
            for (String right : rules) {
                if (Stream.of("+", "~", "&").anyMatch(right::startsWith)) {
                    List<String> others = rules.stream().filter((rule) -> !rule.equals(right)).toList();
                    if (problems(server, others).isEmpty()) {
                        missed.add(right);
                    }
                }
            }
            assertThat(missed).isSubsetOf(NOT_MISSED);
        }
    }

    /** Returns the failures and warnings of an application that runs as this user. */
    private List<String> problems(RedisServer server, List<String> rules) {
        RedisUser.set(server, USER, rules);
        server.commands().scriptFlush();
        this.log.list.clear();
        this.log.start();
        this.logger.addAppender(this.log);
        RedisStandaloneConfiguration configuration = new RedisStandaloneConfiguration(server.host(), server.port());
        configuration.setUsername(USER);
        configuration.setPassword(RedisUser.PASSWORD);
        LettuceConnectionFactory connections = ConnectionFactories.started(new LettuceConnectionFactory(configuration));
        try (RedisScriptExecutor redis = RedisScriptExecutor.to(connections, USER, Duration.ofSeconds(30))) {
            RedisTemplate<String, byte[]> template = new RedisTemplate<>();
            template.setConnectionFactory(connections);
            template.afterPropertiesSet();
            if (!new RedisServerCheck(redis, template, WakeUpMode.CHANNEL).run(Duration.ofSeconds(30))) {
                return List.of("not reachable");
            }
            listen(connections, redis);
            return said();
        }
        catch (UnsuitableRedisException ex) {
            return List.of(String.valueOf(ex.getMessage()));
        }
        finally {
            connections.destroy();
            this.logger.detachAppender(this.log);
        }
    }

    private void listen(LettuceConnectionFactory connections, RedisScriptExecutor redis) {
        CountDownLatch heard = new CountDownLatch(1);
        RedisWakeUps wakeUps = new RedisWakeUps(connections, redis, WakeUpMode.CHANNEL);
        WakeUps.Subscription subscription = wakeUps.listen(Partition.first(new QueueName("orders")),
                (signal) -> heard.countDown());
        Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> heard.getCount() == 0 || !said().isEmpty());
        subscription.close();
        wakeUps.close();
    }

    private List<String> said() {
        return List.copyOf(this.log.list)
            .stream()
            .filter((event) -> event.getLevel().isGreaterOrEqual(Level.WARN))
            .map(ILoggingEvent::getFormattedMessage)
            .filter((message) -> !LogCount.isSlowAnswer(message))
            .toList();
    }

}

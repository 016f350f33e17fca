package io.delayqueue.migrate.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** Moves entries, and leaves them in the source if it cannot go on. */
@Tag("server")
class CopyCommandTests {

    private static final String TIMEOUTS = "redisson_delay_queue_timeout:{orders}";

    private static final String ORDER = "redisson_delay_queue:{orders}";

    /** A member of an early Redisson: a random number, the length, and the value. */
    private static final String MEMBER = "\0\0\0\0\0\0\0\1" + "\2\0\0\0\0\0\0\0" + "{}";

    @TempDir
    private Path directory;

    private RedisServer redis;

    @BeforeEach
    void addEntry() {
        this.redis = RedisServer.start(RedisBinary.preferred());
        this.redis.commands().zadd(TIMEOUTS, 1_900_000_000_000L, MEMBER);
        this.redis.commands().rpush(ORDER, MEMBER);
    }

    @AfterEach
    void stopRedis() {
        this.redis.close();
    }

    /** A copy that has taken entries tries for ten minutes to send them. */
    @Test
    @Timeout(value = 3, unit = TimeUnit.MINUTES)
    void takesNothingIfTheTargetDoesNotAnswer() {
        Tool copy = copy("--target-url=redis://127.0.0.1:1", "--report=" + this.directory.resolve("report"));

        assertThat(copy.run()).as(copy::output).isOne();

        assertThat(this.redis.commands().zcard(TIMEOUTS)).isOne();
        assertThat(this.redis.commands().keys("delayqueue_migrate:*")).isEmpty();
    }

    /** As a node of an application with a ledger has recorded it. */
    @Test
    @Timeout(value = 3, unit = TimeUnit.MINUTES)
    void takesNothingIfTheTargetIsALedger() {
        this.redis.commands().set("shop:{orders}:partitions", "1|1j");
        Tool copy = copy("--report=" + this.directory.resolve("report"));

        assertThat(copy.run()).as(copy::output).isOne();

        assertThat(copy.output()).contains("Queue 'orders' is a ledger");
        assertThat(this.redis.commands().zcard(TIMEOUTS)).isOne();
        assertThat(this.redis.commands().keys("delayqueue_migrate:*")).isEmpty();
    }

    /** The environment and the arguments may be those of the application. */
    @Test
    void sendsToQueuesWithoutAListenerWhereTheApplicationRejectsThat() {
        System.setProperty("delayqueue.send.unknown-queues", "reject");
        try {
            Tool copy = copy("--delayqueue.send.unknown-queues=reject", "--report=" + this.directory.resolve("report"));
            assertThat(copy.run()).as(copy::output).isZero();
        }
        finally {
            System.clearProperty("delayqueue.send.unknown-queues");
        }

        assertThat(this.redis.commands().hlen("shop:{orders}:messages")).isOne();
    }

    @Test
    void takesNothingIfTheReportCannotBeWritten() throws IOException {
        Path file = Files.createFile(this.directory.resolve("file"));

        Tool copy = copy("--report=" + file.resolve("report"));

        assertThat(copy.run()).as(copy::output).isEqualTo(2);
        assertThat(copy.output()).contains("is not valid: the report cannot be written");
        assertThat(this.redis.commands().zcard(TIMEOUTS)).isOne();
    }

    private Tool copy(String... more) {
        return new Tool("copy", "--source=redisson", "--source-url=redis://127.0.0.1:" + this.redis.port(),
                "--namespace=shop")
            .with(more);
    }

}

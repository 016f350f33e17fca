package io.delayqueue.clinic;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

import com.zaxxer.hikari.HikariDataSource;
import io.delayqueue.AfterCommitSendFailedEvent;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.boot.SpringApplication;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Checks the statement of docs/configuration.md that sends after a commit hold the JDBC
 * connection of the transaction until Redis has answered, or the command timeout is over.
 */
@Tag("server")
class AfterCommitConnectionTests {

    private final ClinicRedis redis = new ClinicRedis();

    private final List<AfterCommitSendFailedEvent> failures = new CopyOnWriteArrayList<>();

    private ConfigurableApplicationContext context;

    private HikariDataSource pool;

    @AfterEach
    void stop() {
        this.context.close();
        this.redis.close();
    }

    @Test
    void aTransactionThatHasCommittedHoldsItsConnectionWhileRedisHangs() throws Exception {
        start("60s");
        this.redis.call("CLIENT PAUSE 600000 WRITE");

        CompletableFuture<SendResult> hired = CompletableFuture.supplyAsync(this::hire);
        Awaitility.await().atMost(Duration.ofMinutes(1)).until(this::hasCommitted);
        assertThatThrownBy(this.pool::getConnection).isInstanceOf(SQLTransientConnectionException.class);
        assertThat(hired).isNotDone();

        this.redis.call("CLIENT UNPAUSE");
        assertThat(hired.get().outcome()).isEqualTo(SendOutcome.DEFERRED);
        this.pool.getConnection().close();
        assertThat(this.failures).isEmpty();
    }

    @Test
    void theCommandTimeoutBoundsThat() throws Exception {
        start("300ms");
        this.redis.call("CLIENT PAUSE 600000 WRITE");

        assertThat(hire().outcome()).isEqualTo(SendOutcome.DEFERRED);

        this.pool.getConnection().close();
        assertThat(hasCommitted()).isTrue();
        assertThat(this.failures).hasSize(1);
    }

    private SendResult hire() {
        return this.context.getBean(Clinic.VetService.class).hire("Helen");
    }

    /** By a connection that is not of the pool. */
    private boolean hasCommitted() throws SQLException {
        try (Connection connection = DriverManager.getConnection(this.pool.getJdbcUrl(), "sa", "");
                Statement statement = connection.createStatement();
                ResultSet vets = statement.executeQuery("select * from vet")) {
            return vets.next();
        }
    }

    private void start(String commandTimeout) {
        SpringApplication application = new SpringApplication(Clinic.class);
        application.addInitializers((context) -> ((GenericApplicationContext) context).registerBean("failures",
                ApplicationListener.class,
                () -> ApplicationListener.forPayload((AfterCommitSendFailedEvent event) -> this.failures.add(event))));
        this.context = application.run("--spring.data.redis.port=" + this.redis.port(),
                "--delayqueue.command-timeout=" + commandTimeout, "--spring.datasource.hikari.maximum-pool-size=1",
                "--spring.datasource.hikari.connection-timeout=250", "--spring.datasource.username=sa",
                "--spring.jpa.hibernate.ddl-auto=create-drop", "--spring.cache.type=caffeine",
                "--spring.main.banner-mode=off", "--spring.main.web-application-type=none",
                "--delayqueue.listener.auto-startup=false");
        this.pool = this.context.getBean(HikariDataSource.class);
    }

}

package io.delayqueue.clinic;

import java.time.Duration;

import io.delayqueue.SendOutcome;
import io.delayqueue.admin.MessageHistory;
import io.delayqueue.journal.JournalOperations;
import io.delayqueue.journal.RestorePlan;
import io.delayqueue.template.DelayQueueTemplate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/** Checks that transactions of the journal's own leave a transaction of JPA alone. */
@Tag("server")
class JournalInJpaTransactionTests {

    @Test
    void aTransactionThatIsRolledBackIsNotCommittedByTheJournal() {
        try (ClinicRedis redis = new ClinicRedis(); ConfigurableApplicationContext context = start(redis.port())) {
            Vets vets = context.getBean(Vets.class);
            DelayQueueTemplate queue = context.getBean(DelayQueueTemplate.class);
            new TransactionTemplate(context.getBean(PlatformTransactionManager.class))
                .executeWithoutResult((status) -> {
                    vets.save(new Vet("Helen"));
                    assertThat(queue.send("rename", "1", 1L, Duration.ofHours(1)).outcome())
                        .isEqualTo(SendOutcome.DEFERRED);
                    context.getBean(MessageHistory.class).erase("rename", "other");
                    context.getBean(JournalOperations.class).restore(RestorePlan.all());
                    assertThat(vets.count()).isOne();
                    status.setRollbackOnly();
                });

            assertThat(vets.count()).isZero();
            assertThat(context.getBean(JdbcTemplate.class)
                .queryForObject("SELECT COUNT(*) FROM delayqueue_journal", Long.class)).isZero();
        }
    }

    private static ConfigurableApplicationContext start(int redisPort) {
        return SpringApplication.run(Clinic.class, "--spring.data.redis.port=" + redisPort,
                "--delayqueue.journal.mode=ledger", "--delayqueue.journal.jdbc.initialize-schema=always",
                "--spring.jpa.hibernate.ddl-auto=create-drop", "--spring.cache.type=caffeine",
                "--spring.main.banner-mode=off", "--spring.main.web-application-type=none");
    }

}

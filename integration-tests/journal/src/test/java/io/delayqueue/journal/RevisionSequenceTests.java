package io.delayqueue.journal;

import java.time.Duration;
import java.util.List;
import java.util.Locale;

import io.delayqueue.QueueName;
import io.delayqueue.shop.EachDatabase;
import io.delayqueue.shop.ShopDatabase;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the revisions that a database assigns after it has lost some. */
@Tag("server")
class RevisionSequenceTests {

    private static final QueueName QUEUE = new QueueName("orders");

    @EachDatabase
    void revisionsAreSkippedAndNoRowIsLeft(ShopDatabase database) {
        skipRevisions(database, database.url());
    }

    @Test
    void revisionsOfAServerOfH2AreSkipped() {
        skipRevisions(ShopDatabase.H2, ShopDatabase.H2.serverUrl());
    }

    private static void skipRevisions(ShopDatabase database, String url) {
        DriverManagerDataSource source = new DriverManagerDataSource(url);
        String script = "io/delayqueue/journal/schema-%s.sql".formatted(database.name().toLowerCase(Locale.ROOT));
        new ResourceDatabasePopulator(new ClassPathResource(script)).execute(source);
        JournalDatabase journal = new JournalDatabase(source, "dq");
        JournalTable table = new JournalTable(journal, Duration.ofSeconds(10));
        long first = table.insertAlone(List.of(JournalRequest.cancel(QUEUE, "1"))).get(0);

        new RevisionSequence(journal).skip();

        long second = table.insertAlone(List.of(JournalRequest.cancel(QUEUE, "2"))).get(0);
        assertThat(second).isGreaterThan(first + 999_999);
        new RevisionSequence(journal).skip();
        assertThat(table.insertAlone(List.of(JournalRequest.cancel(QUEUE, "3"))).get(0))
            .isGreaterThan(second + 999_999);
        assertThat(JdbcClient.create(source).sql("SELECT COUNT(*) FROM delayqueue_journal").query(Long.class).single())
            .isEqualTo(3);
    }

    @Test
    void encodedRevisionsAreRead() {
        List<Long> revisions = List.of(78_364_164_095L, 5L, 5_000_000_000L, 130L, 128L, 127L, 1L);

        assertThat(RevisionCodec.decode(RevisionCodec.encode(revisions))).containsExactly(1, 5, 127, 128, 130,
                5_000_000_000L, 78_364_164_095L);
        assertThat(RevisionCodec.decode(RevisionCodec.encode(List.of()))).isEmpty();
    }

}

package io.delayqueue.autoconfigure;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import io.delayqueue.shop.EachDatabase;
import io.delayqueue.shop.ShopDatabase;
import org.junit.jupiter.api.Tag;

import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests nodes that create the tables of the journal at the same time. */
@Tag("server")
class JournalSchemaInitializerTests {

    private static final int NODES = 8;

    private static final int ROUNDS = 3;

    /**
     * The first deployment starts several nodes. PostgreSQL and H2 reject a
     * {@code CREATE TABLE IF NOT EXISTS} if another node creates that table at the same
     * time.
     */
    @EachDatabase
    void nodesThatStartTogetherAllStart(ShopDatabase database) throws Exception {
        ExecutorService nodes = Executors.newFixedThreadPool(NODES);
        try {
            for (int round = 0; round < ROUNDS; round++) {
                DriverManagerDataSource dataSource = new DriverManagerDataSource(database.url());
                CyclicBarrier begin = new CyclicBarrier(NODES);
                List<Callable<Boolean>> starts = new ArrayList<>();
                for (int node = 0; node < NODES; node++) {
                    DelayQueueJournalProperties properties = new DelayQueueJournalProperties();
                    properties.setInitializeSchema(DatabaseInitializationMode.ALWAYS);
                    starts.add(() -> {
                        begin.await();
                        return new JournalSchemaInitializer(dataSource, properties).initializeDatabase();
                    });
                }
                for (Future<Boolean> start : nodes.invokeAll(starts)) {
                    assertThat(start.get()).isTrue();
                }
                assertThat(JdbcClient.create(dataSource)
                    .sql("SELECT COUNT(*) FROM delayqueue_history")
                    .query(Long.class)
                    .single()).isZero();
            }
        }
        finally {
            nodes.shutdownNow();
        }
    }

}

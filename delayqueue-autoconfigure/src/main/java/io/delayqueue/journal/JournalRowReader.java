package io.delayqueue.journal;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.delayqueue.OnDuplicate;
import io.delayqueue.QueueName;
import io.delayqueue.journal.JournalRequest.Operation;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.FailedAttempts;
import io.delayqueue.store.NewMessage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.jdbc.core.ResultSetExtractor;

/**
 * Reads rows of the journal from the result of a query. Logs each row that it cannot read
 * once. Thread-safe.
 */
final class JournalRowReader {

    private static final Logger logger = LoggerFactory.getLogger(JournalRowReader.class);

    /** Maximum number of rows that are logged because they cannot be read. */
    private static final int LOG_LIMIT = 1000;

    /** The revisions of rows that were logged. */
    private final Set<Long> logged = ConcurrentHashMap.newKeySet();

    /** Leaves out a row that this version cannot read; its claim runs out. */
    Optional<JournalRow> readOrEmpty(ResultSet row) throws SQLException {
        try {
            return Optional.of(read(row));
        }
        catch (IllegalArgumentException ex) {
            long revision = row.getLong("revision");
            if (this.logged.size() < LOG_LIMIT && this.logged.add(revision)) {
                logger.error("Row {} of the journal cannot be read, and waits for the version that wrote it: {}",
                        revision, ex.getMessage());
            }
            return Optional.empty();
        }
    }

    /**
     * Returns a reader of the first rows of a result, until their messages reach
     * {@link JournalTable#BYTES_LIMIT}.
     * @param unreadable receives the keys of the rows that cannot be read, with their
     * next checks
     */
    ResultSetExtractor<List<JournalRow>> page(List<DueRevision> unreadable) {
        return (result) -> {
            List<JournalRow> rows = new ArrayList<>();
            for (long bytes = 0; bytes < JournalTable.BYTES_LIMIT && result.next();) {
                JournalRow row = readOrEmpty(result).orElse(null);
                if (row != null) {
                    rows.add(row);
                    bytes += row.size();
                }
                else {
                    unreadable.add(new DueRevision(result.getLong("claimed_until"), result.getLong("revision")));
                }
            }
            return rows;
        };
    }

    private static JournalRow read(ResultSet row) throws SQLException {
        long revision = row.getLong("revision");
        QueueName queue = new QueueName(row.getString("queue_name"));
        String id = row.getString("message_id");
        Operation operation = Operation.of(row.getString("operation"));
        JournalRequest request = switch (operation) {
            case SEND -> JournalRequest.send(queue, message(row, revision, id));
            case RESCHEDULE -> JournalRequest.reschedule(queue, id, remaining(row));
            case CANCEL -> JournalRequest.cancel(queue, id);
            case OCCURRENCE -> JournalRequest.occurrence(queue, message(row, revision, id));
        };
        return new JournalRow(revision, request, row.getBoolean("accepted"), row.getBoolean("behind"),
                row.getBoolean("superseded"), row.getInt("checks"), row.getLong("claimed_until"),
                new FailedAttempts(row.getInt("failures"), row.getObject("retry_millis", Long.class)),
                row.getLong("read_at") - row.getLong("recorded_at"));
    }

    private static NewMessage message(ResultSet row, long revision, String id) throws SQLException {
        long timeToLive = row.getLong("ttl_millis");
        boolean limited = !row.wasNull();
        return JournalRequest.message(revision, id, remaining(row), OnDuplicate.valueOf(row.getString("on_duplicate")),
                row.getInt("priority"), limited ? Duration.ofMillis(timeToLive) : null, row.getString("group_name"),
                row.getBytes("envelope"));
    }

    /**
     * Returns the due time of a request, with the rest of its delay. Both times of the
     * subtraction are rounded down, so the elapsed time may be a millisecond less.
     */
    private static DueTime remaining(ResultSet row) throws SQLException {
        long millis = row.getLong("due_millis");
        if (!row.getBoolean("due_relative")) {
            return new DueTime(millis, false);
        }
        long elapsed = Math.max(0, row.getLong("read_at") - row.getLong("recorded_at") - 1);
        return new DueTime(Math.max(0, millis - elapsed), true);
    }

}

package io.delayqueue.journal;

import java.sql.Types;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

import org.springframework.jdbc.core.namedparam.MapSqlParameterSource;

/**
 * Accepts and deletes the rows of requests that the store has applied. Thread-safe.
 */
final class AppliedRows {

    private static final String ACCEPT = """
            UPDATE delayqueue_journal SET accepted = TRUE, operation = REPLACE(operation, 'O', 'S'), checks = 0,
              due_millis = COALESCE(:due, due_millis), due_relative = :relative,
              claimed_until = GREATEST($now + :span, :notBefore)
            WHERE revision = :revision AND accepted = FALSE""";

    private static final String DELETE = "DELETE FROM delayqueue_journal WHERE revision = :revision";

    private final JournalDatabase database;

    AppliedRows(JournalDatabase database) {
        this.database = database;
    }

    /**
     * Deletes and accepts in one transaction, so that a reader who misses the row of a
     * message finds the accepted request that has ended it. Changes the rows in the order
     * of their keys.
     * @param accepted rows that are kept, unless another node has accepted them first:
     * they may have changed since
     */
    void change(Collection<Long> deleted, List<AcceptedRowUpdate> accepted) {
        SortedMap<Long, Optional<AcceptedRowUpdate>> changes = new TreeMap<>();
        accepted.forEach((row) -> changes.put(row.revision(), Optional.of(row)));
        deleted.forEach((revision) -> changes.put(revision, Optional.empty()));
        if (!changes.isEmpty()) {
            this.database.inOwnTransaction(() -> changeAll(changes));
        }
    }

    /** Runs a batch for rows that follow each other and are changed in the same way. */
    private int[] changeAll(SortedMap<Long, Optional<AcceptedRowUpdate>> changes) {
        List<MapSqlParameterSource> rows = new ArrayList<>();
        String last = DELETE;
        for (Map.Entry<Long, Optional<AcceptedRowUpdate>> change : changes.entrySet()) {
            String next = change.getValue().isPresent() ? ACCEPT : DELETE;
            if (!next.equals(last) && !rows.isEmpty()) {
                run(last, rows);
                rows.clear();
            }
            MapSqlParameterSource row = new MapSqlParameterSource("revision", change.getKey());
            change.getValue().ifPresent((accepted) -> addTo(row, accepted));
            rows.add(row);
            last = next;
        }
        return run(last, rows);
    }

    private static void addTo(MapSqlParameterSource row, AcceptedRowUpdate accepted) {
        row.addValue("due", accepted.due(), Types.BIGINT)
            .addValue("relative", false)
            .addValue("notBefore", accepted.notBefore())
            .addValue("span", accepted.nextCheck().toMillis());
    }

    private int[] run(String sql, List<MapSqlParameterSource> rows) {
        return this.database.batch(sql, rows.toArray(MapSqlParameterSource[]::new));
    }

}

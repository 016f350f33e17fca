package io.delayqueue.migrate.jdbc;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import io.delayqueue.migrate.SourceEntry;
import io.delayqueue.migrate.SourceOptions;
import org.jspecify.annotations.Nullable;

/**
 * Moves the rows of a table that an application polls. {@code select} is a query for the
 * id, the due time and the payload. {@code update} is a statement that takes one row away
 * from the application, such as
 * {@code UPDATE jobs SET state = 'MOVED' WHERE id = ? AND state = 'NEW'}; after it the
 * query must no longer return the row. Without it rows stay as they are, and the
 * application must be stopped.
 */
public final class SelectSource extends JdbcSource {

    private String queue = "";

    private String select = "";

    private @Nullable String update;

    public SelectSource() {
        super("select");
    }

    @Override
    public void open(SourceOptions options) {
        this.queue = options.setting("queue").orElse("rows");
        this.select = options.required("select");
        Optional<String> statement = options.setting("update");
        if (statement.isPresent() && statement.get().chars().filter((c) -> c == '?').count() != 1) {
            throw new IllegalArgumentException("--source-option=update=... is not valid: use a statement with one ?, "
                    + "for the id of the row, and a condition on its state");
        }
        this.update = statement.orElse(null);
        super.open(options);
    }

    @Override
    public boolean canFollow() {
        return this.update != null;
    }

    @Override
    List<String> queues(Connection connection) {
        return List.of(this.queue);
    }

    @Override
    TakenRows.Waiting waiting(Connection connection, String name) throws SQLException {
        if (!name.equals(this.queue)) {
            return new TakenRows.Waiting(0, null, null, Map.of());
        }
        long number = 0;
        Instant first = null;
        Instant last = null;
        for (SourceEntry row : rows(connection, new Page(0, Integer.MAX_VALUE, "x", false))) {
            number++;
            Instant due = row.dueAt();
            first = (first == null || (due != null && due.isBefore(first))) ? due : first;
            last = (last == null || (due != null && due.isAfter(last))) ? due : last;
        }
        return new TakenRows.Waiting(number, first, last, Map.of());
    }

    @Override
    public List<SourceEntry> peek(String name, long offset, int limit) {
        return database().inTransaction((connection) -> rows(connection, new Page(offset, limit, "x", true)));
    }

    @Override
    List<SourceEntry> remove(Connection connection, String name, String batch, int limit) throws SQLException {
        List<SourceEntry> page = rows(connection, new Page(0, limit, batch, true));
        if (this.update == null || page.isEmpty()) {
            return page;
        }
        int[] changed = Database.updateEach(connection, this.update,
                page.stream().map((entry) -> new Object[] { id(entry.businessId()) }).toList());
        List<SourceEntry> taken = new ArrayList<>();
        for (int i = 0; i < changed.length; i++) {
            if (changed[i] == 1) {
                SourceEntry entry = page.get(i);
                taken.add(SourceEntry.of(batch + "-" + (taken.size() + 1), due(entry), entry.payload())
                    .with(entry.businessId(), entry.headers()));
            }
        }
        return taken;
    }

    private static Instant due(SourceEntry entry) {
        Instant due = entry.dueAt();
        if (due == null) {
            throw new IllegalStateException("A row needs a due time");
        }
        return due;
    }

    /** Returns the id as a number if it is one: databases do not convert it. */
    private static Object id(@Nullable String id) {
        return (id != null && id.matches("-?\\d{1,18}")) ? Long.parseLong(id) : String.valueOf(id);
    }

    private List<SourceEntry> rows(Connection connection, Page page) throws SQLException {
        boolean skipsTaken = this.update == null && Database.hasTable(connection, TakenRows.ENTRIES);
        try (var statement = connection.prepareStatement(this.select, ResultSet.TYPE_FORWARD_ONLY,
                ResultSet.CONCUR_READ_ONLY)) {
            statement.setFetchSize(1_000);
            try (ResultSet row = statement.executeQuery()) {
                List<SourceEntry> entries = new ArrayList<>();
                long position = 0;
                while (entries.size() < page.limit() && row.next()) {
                    String id = row.getString(1);
                    if (position++ < page.offset() || (skipsTaken && rows().holds(connection, this.queue, id))) {
                        continue;
                    }
                    byte[] payload = page.withPayload() ? payload(row) : new byte[0];
                    entries.add(SourceEntry.of(page.batch() + "-" + (entries.size() + 1), instant(row), payload)
                        .with(id, Map.of()));
                }
                return entries;
            }
        }
    }

    private static Instant instant(ResultSet row) throws SQLException {
        Object due = row.getObject(2);
        if (due instanceof Number millis) {
            return Instant.ofEpochMilli(millis.longValue());
        }
        if (due instanceof OffsetDateTime time) {
            return time.toInstant();
        }
        Timestamp time = row.getTimestamp(2);
        if (time == null) {
            throw new IllegalArgumentException(
                    "Row '%s' has no due time: exclude it in --source-option=select=...".formatted(row.getString(1)));
        }
        return time.toInstant();
    }

    private static byte[] payload(ResultSet row) throws SQLException {
        Object value = row.getObject(3);
        if (value instanceof byte[] bytes) {
            return bytes;
        }
        String text = row.getString(3);
        return (text != null) ? text.getBytes(StandardCharsets.UTF_8) : new byte[0];
    }

    /**
     * Selects rows.
     *
     * @param offset rows to skip
     * @param limit maximum number of rows
     * @param batch begins the ids of the entries
     * @param withPayload whether the payloads are needed
     */
    private record Page(long offset, int limit, String batch, boolean withPayload) {
    }

}

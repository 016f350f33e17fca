package io.delayqueue.migrate.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

import io.delayqueue.migrate.SourceEntry;
import io.delayqueue.migrate.SourceOptions;
import org.jspecify.annotations.Nullable;

/**
 * Moves the rows of a table that an application polls. {@code select} is a query for the
 * id, the due time and the payload. {@code update} is a statement that takes one row away
 * from the application, such as
 * {@code UPDATE jobs SET state = 'MOVED' WHERE id = ? AND state = 'NEW'}; after it the
 * query must no longer return the row, and a row that it returns again is rejected.
 * Without it rows stay as they are, and the application must be stopped.
 */
public final class SelectSource extends JdbcSource {

    private static final String WITHOUT_ID = "without an id, so they cannot be recorded: give them one";

    private static final int READ_AT_ONCE = 500;

    private String queue = "";

    private String select = "";

    private @Nullable String update;

    /**
     * The ids of rows that the update did not change. They are passed over until no other
     * is left, and then tried once more.
     */
    private final Set<String> unchanged = new HashSet<>();

    /** Whether the update is known to hide rows from the query. */
    private boolean checked;

    /** Keeps the place in the query without an update, and that of samples. */
    private @Nullable SelectPass pass;

    /** Whether the pass may return rows that were taken. */
    private boolean hasTaken;

    /** The number of rows that the pass has returned to {@link #peek}. */
    private long peeked;

    /** The ids of all rows of the pass so far; an id must identify one row. */
    private final Set<String> passed = new HashSet<>();

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

    /**
     * Returns the queue of the options; others in the records have queries of their own.
     */
    @Override
    List<String> queues(Connection connection) {
        return List.of(this.queue);
    }

    @Override
    void requireQueue(String name) {
        if (!name.equals(this.queue)) {
            throw new IllegalArgumentException(
                    ("--queue='%1$s' is not valid: the rows of this source are queue '%2$s', "
                            + "which --source-option=queue=NAME changes. Use --queue=%2$s, or --queue='%2$s=TARGET'")
                        .formatted(name, this.queue));
        }
    }

    @Override
    TakenRows.Waiting waiting(Connection connection, String name) throws SQLException {
        boolean mayBeTaken = hasTaken(connection);
        Totals totals = new Totals();
        try (SelectPass pass = SelectPass.all(database().open(), this.select)) {
            List<SelectPass.Row> rows = pass.next(READ_AT_ONCE, false);
            while (!rows.isEmpty()) {
                (mayBeTaken ? untaken(connection, rows) : rows).forEach(totals::add);
                rows = pass.next(READ_AT_ONCE, false);
            }
        }
        return totals.waiting();
    }

    @Override
    public List<SourceEntry> peek(String name, long offset, int limit) {
        requireQueue(name);
        return database().inTransaction((connection) -> {
            if (offset < this.peeked) {
                closePass();
            }
            List<SelectPass.Row> rows = List.of();
            while (this.peeked < offset) {
                rows = nextUntaken(connection, (int) Math.min(READ_AT_ONCE, offset - this.peeked), false);
                if (rows.isEmpty()) {
                    return List.of();
                }
                this.peeked += rows.size();
            }
            rows = nextUntaken(connection, limit, true);
            this.peeked += rows.size();
            return entries(rows, "x");
        });
    }

    /**
     * Returns the next rows that are not taken, of one pass of the query. Ends the pass
     * behind the last one.
     */
    private List<SelectPass.Row> nextUntaken(Connection connection, int limit, boolean withPayload)
            throws SQLException {
        if (this.pass == null) {
            this.pass = SelectPass.all(database().open(), this.select);
            this.hasTaken = hasTaken(connection);
        }
        while (true) {
            List<SelectPass.Row> rows = this.pass.next(limit, withPayload);
            rows.forEach(this::requireNewId);
            List<SelectPass.Row> untaken = this.hasTaken ? untaken(connection, rows) : rows;
            if (!untaken.isEmpty()) {
                return untaken;
            }
            if (rows.isEmpty()) {
                closePass();
                return List.of();
            }
        }
    }

    /** Rejects the second row with an id: it would pass for one that was taken. */
    private void requireNewId(SelectPass.Row row) {
        if (row.id() != null && !this.passed.add(row.id())) {
            throw new IllegalArgumentException(("--source-option=select=... is not valid: it returns row '%s' more "
                    + "than once. Use a query that returns one row for each id")
                .formatted(row.id()));
        }
    }

    /**
     * Returns whether the query may return rows that were taken: no update hides them.
     */
    private boolean hasTaken(Connection connection) throws SQLException {
        return this.update == null && Database.hasTable(connection, TakenRows.ENTRIES);
    }

    private List<SelectPass.Row> untaken(Connection connection, List<SelectPass.Row> rows) throws SQLException {
        Set<String> before = rows().held(connection, this.queue, ids(rows));
        return rows.stream().filter((row) -> row.id() == null || !before.contains(row.id())).toList();
    }

    private void closePass() throws SQLException {
        SelectPass current = this.pass;
        this.pass = null;
        this.peeked = 0;
        this.passed.clear();
        if (current != null) {
            current.close();
        }
    }

    /** The rows of the take are behind the place of the pass, and were not recorded. */
    @Override
    void failed() {
        try {
            closePass();
        }
        catch (SQLException ex) {
            // The next take opens another connection.
        }
    }

    @Override
    public void close() {
        failed();
        super.close();
    }

    @Override
    List<SourceEntry> remove(Connection connection, String name, String batch, int limit) throws SQLException {
        if (this.update == null) {
            return entries(nextToTake(connection, limit), batch);
        }
        boolean fromStart = this.unchanged.isEmpty();
        while (true) {
            List<SelectPass.Row> page = first(connection, limit, true);
            if (page.isEmpty()) {
                this.unchanged.clear();
                if (fromStart) {
                    return List.of();
                }
                fromStart = true;
                continue;
            }
            rejectTaken(connection, page);
            List<SelectPass.Row> taken = update(connection, this.update, page);
            if (!taken.isEmpty()) {
                rejectSelected(connection, taken, limit);
                return entries(taken, batch);
            }
        }
    }

    /** Returns those rows that the update has changed, and remembers the others. */
    private List<SelectPass.Row> update(Connection connection, String sql, List<SelectPass.Row> page)
            throws SQLException {
        int[] changed = Database.updateEach(connection, sql,
                page.stream().map((row) -> new Object[] { row.key() }).toList());
        List<SelectPass.Row> taken = new ArrayList<>();
        for (int i = 0; i < changed.length; i++) {
            requireOneRow(page.get(i), changed[i]);
            if (changed[i] == 1) {
                taken.add(page.get(i));
            }
            else {
                this.unchanged.add(String.valueOf(page.get(i).id()));
            }
        }
        return taken;
    }

    /** Returns rows with an id: others could not be recorded. */
    private List<SelectPass.Row> nextToTake(Connection connection, int limit) throws SQLException {
        if (this.peeked > 0) {
            closePass();
        }
        while (true) {
            List<SelectPass.Row> rows = nextUntaken(connection, limit, true);
            List<SelectPass.Row> page = rows.stream().filter((row) -> row.id() != null).toList();
            if (rows.isEmpty() || !page.isEmpty()) {
                return page;
            }
        }
    }

    /**
     * Returns the first rows of the query that have an id, without those that the update
     * did not change.
     */
    private List<SelectPass.Row> first(Connection connection, int limit, boolean withPayload) throws SQLException {
        for (int most = this.unchanged.size() + limit;; most = 2 * most) {
            try (SelectPass pass = SelectPass.first(connection, this.select, most)) {
                List<SelectPass.Row> page = new ArrayList<>();
                int read = 0;
                List<SelectPass.Row> rows = pass.next(limit, withPayload);
                while (!rows.isEmpty()) {
                    read += rows.size();
                    rows.stream()
                        .filter((row) -> row.id() != null && !this.unchanged.contains(row.id()))
                        .limit(limit - page.size())
                        .forEach(page::add);
                    rows = (page.size() < limit) ? pass.next(limit, withPayload) : List.of();
                }
                if (page.size() == limit || read < most) {
                    return page;
                }
            }
        }
    }

    private static List<SourceEntry> entries(List<SelectPass.Row> rows, String batch) {
        List<SourceEntry> entries = new ArrayList<>(rows.size());
        rows.forEach((row) -> entries.add(row.entry(batch + "-" + (entries.size() + 1))));
        return entries;
    }

    private static void requireOneRow(SelectPass.Row row, int changed) {
        if (changed < 0 || changed > 1) {
            throw new IllegalArgumentException(("--source-option=update=... is not valid: for row '%s' it changed %s. "
                    + "Use a statement that changes the one row with the id, or none")
                .formatted(row.id(),
                        (changed < 0) ? "a number of rows that the driver does not return" : changed + " rows"));
        }
    }

    /** Rejects rows that were taken before: they would be sent a second time. */
    private void rejectTaken(Connection connection, List<SelectPass.Row> page) throws SQLException {
        Set<String> before = rows().held(connection, this.queue, ids(page));
        if (!before.isEmpty()) {
            throw new IllegalArgumentException(("Row '%s' was taken before, and --source-option=select=... returns it "
                    + "again: after --source-option=update=... the query must no longer return a row, and a new row "
                    + "needs an id of its own")
                .formatted(before.iterator().next()));
        }
    }

    /**
     * Rejects an update after which the query still returns the rows. Checked with the
     * first rows of a run, before anything is committed.
     */
    private void rejectSelected(Connection connection, List<SelectPass.Row> taken, int limit) throws SQLException {
        if (this.checked || taken.isEmpty()) {
            return;
        }
        Set<String> ids = ids(taken);
        for (SelectPass.Row row : first(connection, limit, false)) {
            if (ids.contains(String.valueOf(row.id()))) {
                throw new IllegalArgumentException(
                        ("--source-option=update=... is not valid: --source-option=select=... "
                                + "still returns row '%s' after it. Change the row so that the query no longer returns it")
                            .formatted(row.id()));
            }
        }
        this.checked = true;
    }

    private static Set<String> ids(List<SelectPass.Row> rows) {
        return rows.stream()
            .map(SelectPass.Row::id)
            .filter(Objects::nonNull)
            .collect(Collectors.toCollection(TreeSet::new));
    }

    /** Counts rows that wait. */
    private static final class Totals {

        private long number;

        private long withoutId;

        private @Nullable Instant first;

        private @Nullable Instant last;

        private void add(SelectPass.Row row) {
            if (row.id() == null) {
                this.withoutId++;
                return;
            }
            this.number++;
            Instant due = row.due();
            if (due != null) {
                this.first = (this.first == null || due.isBefore(this.first)) ? due : this.first;
                this.last = (this.last == null || due.isAfter(this.last)) ? due : this.last;
            }
        }

        private TakenRows.Waiting waiting() {
            return new TakenRows.Waiting(this.number, this.first, this.last,
                    (this.withoutId > 0) ? Map.of(WITHOUT_ID, this.withoutId) : Map.of());
        }

    }

}

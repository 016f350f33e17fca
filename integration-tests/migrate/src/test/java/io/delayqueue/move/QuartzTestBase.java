package io.delayqueue.move;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Starts an application of Quartz on a database of its own, and reads its tables. */
abstract class QuartzTestBase extends MoveTestBase {

    /** Whether the tables are used by a cluster: {@code clustered} or {@code alone}. */
    String cluster = "clustered";

    /** How data maps are stored: {@code properties} or {@code serialized}. */
    String data = "properties";

    private SourceDatabase database = SourceDatabase.H2;

    private String url = "";

    /** Returns the job classes to move, as a pattern. */
    String jobs() {
        return "*$OrderJob";
    }

    final Map<String, String> query(String sql) {
        return this.database.query(this.url, sql);
    }

    final boolean hasTable(String name) {
        return this.database.hasTable(this.url, name);
    }

    final void update(String sql) {
        this.database.update(this.url, sql);
    }

    final void create(String version, SourceDatabase used) {
        this.database = used;
        this.url = used.newUrl();
        used.update(this.url, PeerJvm.resource(version, used.tables()));
        if (!used.indexes().isEmpty()) {
            used.update(this.url, used.indexes());
        }
        used.update(this.url, "CREATE TABLE handled_by_old (number VARCHAR(40))");
        startScene();
    }

    @Override
    String source() {
        return "quartz";
    }

    @Override
    List<String> sourceArguments() {
        return List.of("--source-url=" + this.url, "--source-user=" + this.database.user(),
                "--queue=" + jobs() + "=orders");
    }

    @Override
    Map<String, Long> dueInSource() {
        Map<String, Long> due = new HashMap<>();
        query("SELECT TRIGGER_NAME, NEXT_FIRE_TIME FROM QRTZ_TRIGGERS")
            .forEach((name, time) -> due.put(name.substring("order-".length()), Long.valueOf(time)));
        return due;
    }

    @Override
    Map<String, Integer> handledByOld() {
        Map<String, Integer> handled = new HashMap<>();
        query("SELECT number, COUNT(*) FROM handled_by_old GROUP BY number")
            .forEach((number, times) -> handled.put(number, Integer.valueOf(times)));
        return handled;
    }

    @Override
    long count(String name) {
        boolean known = hasTable("delayqueue_migrate_queue");
        String sql = "SELECT '%1$s', SUM(%1$s) FROM delayqueue_migrate_queue".formatted(name);
        String count = known ? query(sql).get(name) : null;
        return (count != null) ? Long.parseLong(count) : 0;
    }

    @Override
    PeerJvm peer(String version, Object... arguments) {
        Object[] all = new Object[arguments.length + 3];
        all[0] = this.url;
        all[1] = this.cluster;
        all[2] = this.data;
        System.arraycopy(arguments, 0, all, 3, arguments.length);
        return PeerJvm.start(version, "io.delayqueue.peers.quartz.QuartzPeer", all);
    }

}

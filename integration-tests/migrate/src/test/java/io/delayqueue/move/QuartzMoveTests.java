package io.delayqueue.move;

import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/** Moves what real versions of Quartz have written. */
@Tag("server")
class QuartzMoveTests extends QuartzTestBase {

    private static final String JOB_CLASS = "io.delayqueue.peers.quartz.QuartzPeer$OrderJob";

    @ParameterizedTest
    @MethodSource("everyVersion")
    void everyTriggerThatFiresOnceIsMovedWithItsDueTime(String version, SourceDatabase used) {
        create(version, used);
        send(version, 0, COPIED, HOUR, 60_000);
        Map<String, Long> due = dueInSource();
        assertThat(due).hasSize(COPIED);

        assertThat(scene().run("plan")).contains("%,d waiting".formatted(COPIED), "1,000 of a sample can be sent");
        scene().run("copy", "--dry-run");
        assertThat(dueInSource()).isEqualTo(due);
        System.out.println(scene().run("copy"));

        assertThat(dueInSource()).isEmpty();
        assertThat(scene().dueInTarget()).isEqualTo(due);
        assertThat(redis().commands().hkeys("shop:{orders}:messages")).contains("order-0", "order-" + (COPIED - 1));
        assertThat(scene().run("verify", "--check=5000"))
            .contains("%,d found with their due time".formatted(Math.min(COPIED, 5_000)));
        scene().run("finish");
        assertThat(hasTable("delayqueue_migrate")).isFalse();
        assertThat(hasTable("QRTZ_TRIGGERS")).isTrue();
    }

    @ParameterizedTest
    @MethodSource("everyVersion")
    void otherTriggersStayAndAreReported(String version, SourceDatabase used) {
        create(version, used);
        try (PeerJvm peer = peer(version, "special")) {
            peer.await("SENT 4");
            assertThat(peer.exit()).isZero();
        }
        send(version, 5, 2, HOUR, 0);
        update("UPDATE QRTZ_TRIGGERS SET TRIGGER_STATE = 'ERROR' WHERE TRIGGER_NAME = 'order-5'");
        update("UPDATE QRTZ_TRIGGERS SET TRIGGER_TYPE = 'BLOB' WHERE TRIGGER_NAME = 'order-6'");

        scene().run("copy");

        assertThat(redis().commands().hgetall("shop:{orders}:messages")).hasSize(1)
            .hasEntrySatisfying("shop.order-4", (message) -> assertThat(message).contains("\"number\":\"4\"",
                    "\"quartz-job\":\"shop.order-4-job\""));
        assertThat(query("SELECT JOB_NAME, JOB_GROUP FROM QRTZ_JOB_DETAILS")).containsOnlyKeys("orders");
        assertThat(scene().execute(1, "verify")).contains("are left: repeating", "are left: cron",
                "2 entries of queue '" + JOB_CLASS + "' are left: paused, or in state ERROR",
                "1 entries of queue '" + JOB_CLASS + "' are left: of an own class");
    }

    @ParameterizedTest
    @MethodSource("everyVersion")
    void serializedDataIsNotDeserializedAndKept(String version, SourceDatabase used) {
        this.data = "serialized";
        create(version, used);
        send(version, 0, 10, HOUR, 0);

        assertThat(scene().execute(1, "copy")).contains("10 entries of queue '" + JOB_CLASS + "' are unreadable",
                "it is not ");
        scene().run("copy", "--payload=" + SerializedMapDecoder.class.getName());

        assertThat(scene().dueInTarget()).hasSize(10);
        scene().run("verify");
    }

    @ParameterizedTest
    @Tag("matrix")
    @MethodSource("killedVersions")
    @Timeout(value = 4, unit = TimeUnit.HOURS)
    @Execution(ExecutionMode.CONCURRENT)
    void nothingIsLostOrHandledByBothWhileTheToolIsKilledAndBothApplicationsRun(String version, SourceDatabase used,
            String cluster) {
        this.cluster = cluster;
        create(version, used);
        moveUnderFire(version);
    }

    static Stream<Arguments> everyVersion() {
        return Stream
            .of(arguments("quartz-2.3", SourceDatabase.H2), arguments("quartz-2.4", SourceDatabase.POSTGRESQL),
                    arguments("quartz-2.3", SourceDatabase.POSTGRESQL), arguments("quartz-2.4", SourceDatabase.H2),
                    arguments("quartz-2.3", SourceDatabase.MARIADB), arguments("quartz-2.4", SourceDatabase.MARIADB))
            .filter((version) -> isTested(version.get()[0] + "-" + version.get()[1],
                    version.get()[0].equals("quartz-2.4") && version.get()[1] == SourceDatabase.POSTGRESQL));
    }

    static Stream<Arguments> killedVersions() {
        return Stream
            .of(arguments("quartz-2.3", SourceDatabase.POSTGRESQL, "clustered"),
                    arguments("quartz-2.4", SourceDatabase.H2, "clustered"),
                    arguments("quartz-2.4", SourceDatabase.POSTGRESQL, "alone"),
                    arguments("quartz-2.4", SourceDatabase.MARIADB, "clustered"),
                    arguments("quartz-2.4", SourceDatabase.MARIADB, "alone"))
            .filter((version) -> isTested(version.get()[0] + "-" + version.get()[1],
                    version.get()[0].equals("quartz-2.3")));
    }

}

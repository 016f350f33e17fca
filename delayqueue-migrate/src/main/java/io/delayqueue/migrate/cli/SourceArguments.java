package io.delayqueue.migrate.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.delayqueue.migrate.MigrationSource;
import io.delayqueue.migrate.SourceOptions;
import io.delayqueue.migrate.engine.ExtensionLoader;
import io.delayqueue.migrate.engine.QueueMapping;
import io.delayqueue.migrate.jdbc.QuartzSource;
import io.delayqueue.migrate.jdbc.SelectSource;
import io.delayqueue.migrate.redis.RedissonSource;
import io.delayqueue.migrate.redis.RqueueSource;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Holds the options about the source. */
final class SourceArguments {

    static final String PASSWORD = "DELAYQUEUE_MIGRATE_SOURCE_PASSWORD";

    /**
     * The options of the sources of this program; one with a dot at its end is a prefix.
     */
    private static final Map<String, List<String>> KNOWN_SETTINGS = Map.of("redisson", List.of(), "rqueue",
            List.of("key-prefix", "scheduled-prefix", "queue-prefix", "processing-prefix", "ready", "priority."),
            "quartz", List.of("table-prefix", "scheduler"), "select", List.of("queue", "select", "update"));

    @Option(names = "--source", required = true, paramLabel = "NAME",
            description = "redisson, rqueue, quartz (whose cron triggers become schedules), select, or the class of a "
                    + "MigrationSource")
    private String source = "";

    @Option(names = "--source-url", paramLabel = "URL", defaultValue = "redis://localhost:6379",
            description = "redis://, rediss:// or redis-sentinel://, nodes of a cluster with commas; or jdbc:...; "
                    + "default: ${DEFAULT-VALUE}")
    private String url = "";

    @Option(names = "--source-user", paramLabel = "NAME", description = "user name for the source")
    private @Nullable String user;

    @Option(names = "--source-password-file", paramLabel = "FILE",
            description = "file with the password for the source; or set " + PASSWORD)
    private @Nullable Path passwordFile;

    @Option(names = "--source-option", paramLabel = "NAME=VALUE", description = "a further option of the source")
    private final Map<String, String> settings = new LinkedHashMap<>();

    @Option(names = "--queue", paramLabel = "SOURCE[=TARGET]",
            description = "a queue to move, and its name in DelayQueue; with * on both sides for several, such as "
                    + "'shop:*=shop-*'. The first that matches counts. Default: all, with their names")
    private final List<String> queues = List.of();

    /** Returns the name of the source. */
    String name() {
        return this.source;
    }

    QueueMapping mapping() {
        return QueueMapping.of(this.queues);
    }

    /** Connects to the source. */
    MigrationSource open() {
        MigrationSource created = create();
        this.settings.keySet().forEach(this::requireKnown);
        created.open(new SourceOptions(this.url, this.user, password(), this.settings));
        return created;
    }

    /** A misspelt option would leave the source as if it were not given. */
    private void requireKnown(String setting) {
        List<String> known = KNOWN_SETTINGS.get(this.source);
        if (known != null && known.stream()
            .noneMatch((name) -> name.endsWith(".") ? setting.startsWith(name) : setting.equals(name))) {
            throw new IllegalArgumentException("--source-option=%s=... is not valid: source %s has %s"
                .formatted(setting, this.source, known.isEmpty() ? "no options" : "the options " + known));
        }
    }

    private MigrationSource create() {
        return switch (this.source) {
            case "redisson" -> new RedissonSource();
            case "rqueue" -> new RqueueSource();
            case "quartz" -> new QuartzSource();
            case "select" -> new SelectSource();
            default -> ExtensionLoader.create("--source", this.source, MigrationSource.class,
                    "redisson, rqueue, quartz, select");
        };
    }

    /**
     * Returns the URL, which serves for both sides if that of the target is not given.
     */
    String url() {
        return this.url;
    }

    @Nullable String user() {
        return this.user;
    }

    @Nullable String password() {
        if (this.passwordFile == null) {
            return System.getenv(PASSWORD);
        }
        try {
            return Files.readString(this.passwordFile).strip();
        }
        catch (IOException ex) {
            throw new IllegalArgumentException(
                    "--source-password-file=%s is not valid: the file cannot be read".formatted(this.passwordFile), ex);
        }
    }

}

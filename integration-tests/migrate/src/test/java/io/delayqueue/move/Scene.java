package io.delayqueue.move;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.migrate.cli.Main;
import io.lettuce.core.KeyValue;
import io.lettuce.core.ScoredValue;
import io.lettuce.core.ScoredValueScanCursor;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanCursor;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Holds the source, DelayQueue and the tool of a test; the Redis of both is one.
 */
final class Scene {

    private static final Pattern NUMBER = Pattern.compile("number[\\\\]*\":\"?(\\d+)");

    private final RedisServer redis;

    private final Path directory;

    private final List<Object> arguments;

    Scene(RedisServer redis, Path directory, Object... arguments) {
        this.redis = redis;
        this.directory = directory;
        this.arguments = List.of(arguments);
    }

    /** Starts a step of the tool in a JVM of its own. */
    PeerJvm start(String step, Object... more) {
        return PeerJvm.tool(arguments(step, more));
    }

    /**
     * Starts a step of the tool in a JVM of its own, with the libraries of an application
     * of another library.
     */
    PeerJvm startWith(String module, String step, Object... more) {
        return PeerJvm.toolWith(module, arguments(step, more));
    }

    /**
     * Runs a step of the tool in this JVM, and returns its report; the step must find
     * nothing to do.
     */
    String run(String step, Object... more) {
        execute(0, step, more);
        return report(step);
    }

    /**
     * Runs a step of the tool in this JVM, which ends with an exit code, and returns what
     * it has printed.
     */
    String execute(int exitCode, String step, Object... more) {
        StringWriter output = new StringWriter();
        PrintWriter writer = new PrintWriter(output, true);
        assertThat(Main.run(writer, writer, arguments(step, more))).as(output::toString).isEqualTo(exitCode);
        return output.toString();
    }

    private String[] arguments(String step, Object... more) {
        List<Object> all = new ArrayList<>(List.of(step, "--report=" + this.directory.resolve("report")));
        all.addAll(this.arguments);
        if (List.of("copy", "follow", "verify").contains(step)) {
            all.add("--namespace=shop");
            all.add("--target-url=redis://127.0.0.1:" + this.redis.port());
        }
        all.addAll(List.of(more));
        return all.stream().map(Object::toString).toArray(String[]::new);
    }

    /** Returns the report of a step as text. */
    String report(String step) {
        return read("report-" + step + ".txt");
    }

    /** Returns the report of a step as JSON. */
    String json(String step) {
        return read("report-" + step + ".json");
    }

    private String read(String file) {
        try {
            return Files.readString(this.directory.resolve(file));
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** Returns the due time of each payload of a sorted set. */
    Map<String, Long> dueIn(String key) {
        Map<String, Long> due = new HashMap<>();
        pages(key, (page) -> page.forEach((entry) -> due.put(numberIn(entry.getValue()), (long) entry.getScore())));
        return due;
    }

    /** Returns the due time of each message that waits in DelayQueue. */
    Map<String, Long> dueInTarget() {
        Map<String, Long> due = new HashMap<>();
        pages("shop:{orders}:scheduled", (page) -> {
            String[] ids = page.stream().map(ScoredValue::getValue).toArray(String[]::new);
            List<KeyValue<String, String>> messages = this.redis.commands().hmget("shop:{orders}:messages", ids);
            for (int i = 0; i < ids.length; i++) {
                due.put(numberIn(messages.get(i).getValue()), (long) page.get(i).getScore());
            }
        });
        return due;
    }

    private void pages(String key, Consumer<List<ScoredValue<String>>> action) {
        ScanArgs size = ScanArgs.Builder.limit(1_000);
        ScoredValueScanCursor<String> page = this.redis.commands().zscan(key, ScanCursor.INITIAL, size);
        while (true) {
            if (!page.getValues().isEmpty()) {
                action.accept(page.getValues());
            }
            if (page.isFinished()) {
                return;
            }
            page = this.redis.commands().zscan(key, page, size);
        }
    }

    /** Returns the number of the order, and checks its text. */
    static String numberIn(String json) {
        Matcher matcher = NUMBER.matcher(json);
        assertThat(matcher.find()).as(json).isTrue();
        String number = matcher.group(1);
        assertThat(json.replace("\\", "")).contains("order \"" + number + "\" für Müller");
        return number;
    }

}

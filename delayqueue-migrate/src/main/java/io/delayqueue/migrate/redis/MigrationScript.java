package io.delayqueue.migrate.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.stream.Collectors;

/** Lists the Lua scripts that run in the Redis of a source. */
enum MigrationScript {

    OWN("own"), FINISH("finish"), SETTLE("settle"), STATUS("status"), TAKE_REDISSON("take-redisson"),
    TAKE_RQUEUE("take-rqueue"),

    TAKE_READY_RQUEUE("take-ready-rqueue"), COUNT_PERIODIC("count-periodic");

    private final String text;

    MigrationScript(String name) {
        this.text = withoutComments(read(name).replace("-- prelude", read("prelude")));
    }

    /** Returns the script, with the prelude in its place. */
    String text() {
        return this.text;
    }

    private static String read(String name) {
        String file = name + ".lua";
        try (InputStream script = MigrationScript.class.getResourceAsStream("/io/delayqueue/migrate/redis/" + file)) {
            if (script == null) {
                throw new IllegalStateException("The script %s is missing".formatted(file));
            }
            return new String(script.readAllBytes(), StandardCharsets.UTF_8);
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** The text is sent with each call, so it is kept short. */
    private static String withoutComments(String script) {
        return script.lines()
            .filter((line) -> !line.isBlank() && !line.strip().startsWith("--"))
            .collect(Collectors.joining("\n"));
    }

}

package io.delayqueue.redis.script;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

/** Provides the texts and digests of the scripts to tests of other packages. */
public final class LoadedScripts {

    private LoadedScripts() {
    }

    /** Returns the texts by the names of the scripts. */
    public static Map<String, String> texts() {
        Map<String, String> texts = new TreeMap<>();
        for (RedisScript script : all().values()) {
            texts.put(script.name(), script.text());
        }
        return texts;
    }

    /** Returns the digest by which clients call a script. */
    public static String sha(String name) {
        RedisScript script = all().get(name);
        if (script == null) {
            throw new IllegalArgumentException("There is no script '%s'".formatted(name));
        }
        return script.sha();
    }

    /** Reads a script, and the parts of the prelude that it uses, from a directory. */
    public static RedisScript read(Path directory, String name) {
        // Earlier versions have one file in place of several.
        Prelude prelude = Prelude
            .read((file) -> Files.exists(directory.resolve(file + ".lua")) ? text(directory, file) : "");
        return RedisScript.of(name, prelude.complete(text(directory, name)));
    }

    private static String text(Path directory, String name) {
        try {
            return Files.readString(directory.resolve(name + ".lua"));
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private static Map<String, RedisScript> all() {
        Map<String, RedisScript> scripts = new TreeMap<>();
        try {
            for (Field field : RedisScripts.class.getDeclaredFields()) {
                if (field.getType() == RedisScript.class) {
                    RedisScript script = (RedisScript) field.get(null);
                    scripts.put(script.name(), script);
                }
            }
        }
        catch (IllegalAccessException ex) {
            throw new IllegalStateException(ex);
        }
        return scripts;
    }

}

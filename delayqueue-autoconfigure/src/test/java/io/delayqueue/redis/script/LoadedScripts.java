package io.delayqueue.redis.script;

import java.lang.reflect.Field;
import java.util.Map;
import java.util.TreeMap;

/** All scripts that there are, for tests elsewhere. */
public final class LoadedScripts {

    private LoadedScripts() {
    }

    /** Their texts by their names. */
    public static Map<String, String> texts() {
        Map<String, String> texts = new TreeMap<>();
        for (RedisScript script : all().values()) {
            texts.put(script.name(), script.text());
        }
        return texts;
    }

    /** What a client calls a script by. */
    public static String sha(String name) {
        RedisScript script = all().get(name);
        if (script == null) {
            throw new IllegalArgumentException("There is no script '%s'".formatted(name));
        }
        return script.sha();
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

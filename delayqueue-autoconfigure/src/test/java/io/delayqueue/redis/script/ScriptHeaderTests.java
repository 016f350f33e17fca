package io.delayqueue.redis.script;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.delayqueue.QueueName;
import io.delayqueue.store.Partition;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Verifies that the header of a script names its sections and the keys that it uses. */
class ScriptHeaderTests {

    private static final Pattern SECTION = Pattern.compile("(?m)^-- (KEYS|ARGV|Returns|Keeps|Cost)\\b");

    private static final Pattern KEYS = Pattern.compile(
            "-- KEYS +(?:all|the first four) of prelude.lua(?:, those of schedules too)?(?:; (un)?used: (.*?))?\\R--\\R",
            Pattern.DOTALL);

    private static final Pattern DECLARATION = Pattern.compile("local \\w+ = KEYS\\[(\\d+)]");

    private static final RedisKeys ALL = new RedisKeys("n", Partition.first(new QueueName("q")));

    private static final List<String> NAMES = names(ALL.ofSchedules());

    private static List<String> names(byte[][] keys) {
        return Arrays.stream(keys).map((key) -> ScriptCodec.text(key).substring("n:{q}:".length())).toList();
    }

    static Stream<Arguments> scripts() {
        return LoadedScripts.texts().entrySet().stream().map((each) -> Arguments.of(each.getKey(), each.getValue()));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("scripts")
    void containsAllSectionsInOrder(String name, String text) {
        assertThat(SECTION.matcher(text).results().map((section) -> section.group(1)).distinct())
            .containsExactly("KEYS", "ARGV", "Returns", "Keeps", "Cost");
        assertThat(text.contains("-- ARGV     none\n")).isNotEqualTo(code(text).contains("ARGV"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("scripts")
    void namesTheKeysThatTheScriptUses(String name, String text) {
        Matcher header = KEYS.matcher(text);
        if (!header.find()) {
            assertThat(text).as("keys of the namespace").contains("-- KEYS[");
            return;
        }
        List<String> given = text.contains("those of schedules too") ? NAMES : names(ALL.all());
        List<String> used = used(code(text), given);
        List<String> named = (header.group(2) != null) ? List.of(header.group(2).split(",\\s+(?:--\\s+)?")) : List.of();

        assertThat(named).isEqualTo(given.stream()
            .filter((key) -> header.group(2) != null && used.contains(key) == (header.group(1) == null))
            .toList());
        if (header.group(2) == null) {
            assertThat(used).isEqualTo(name.equals("send") ? given.subList(0, 4) : given);
        }
    }

    /** The scripts of the program that moves messages have the same sections. */
    @Test
    void scriptsOfTheMigrationContainAllSections() throws IOException {
        try (Stream<Path> files = Files
            .list(Path.of("../delayqueue-migrate/src/main/resources/io/delayqueue/migrate/redis"))) {
            List<Path> scripts = files.filter((file) -> !file.endsWith("prelude.lua")).toList();
            assertThat(scripts).hasSizeGreaterThan(5);
            for (Path script : scripts) {
                assertThat(SECTION.matcher(Files.readString(script))
                    .results()
                    .map((section) -> section.group(1))
                    .distinct()).as(script.toString()).containsExactly("KEYS", "ARGV", "Returns", "Keeps", "Cost");
            }
        }
    }

    private static String code(String text) {
        return text.replaceAll("\\s*--.*", "");
    }

    /** Returns all given keys for code that uses {@code KEYS} as a whole. */
    private static List<String> used(String code, List<String> given) {
        if (DECLARATION.matcher(code).replaceAll("").contains("KEYS")) {
            return given;
        }
        List<Integer> numbers = DECLARATION.matcher(code)
            .results()
            .map((declared) -> Integer.valueOf(declared.group(1)))
            .toList();
        return NAMES.stream().filter((key) -> numbers.contains(NAMES.indexOf(key) + 1)).toList();
    }

}

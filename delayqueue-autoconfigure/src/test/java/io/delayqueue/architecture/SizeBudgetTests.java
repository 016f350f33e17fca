package io.delayqueue.architecture;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToIntFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Limits the length of files, methods and scripts. Relies on the layout of the formatter:
 * a block ends at the first closing line with the indentation of its first line.
 */
class SizeBudgetTests {

    private static final int FILE = 500;

    private static final int METHOD = 40;

    private static final int SCRIPT = 60;

    /** Scripts that may be longer, with the reason. */
    private static final Map<String, String> LONGER_SCRIPTS = Map.of("prelude-groups.lua",
            "the functions of a group are created together, and only for a message of a group", "claim.lua",
            "claims, returns leases and expires in one call, or a claim would cost three round trips", "schedule.lua",
            "takes in a batch, and what a queue holds under the same id has six cases", "changes.lua",
            "forgets, guards and returns in one call, or each node would call each partition three times a second",
            "acknowledge.lua", "has three ways, from plain messages to those with groups, windows and successors",
            "declare-schedules.lua",
            "records, decides and removes in one call, or the nodes of a deployment could decide differently");

    private static final Pattern BLOCK = Pattern.compile("^( +)(?![ *@/}]).*\\(.*");

    private static final Pattern COMMENT = Pattern.compile(" // .*$");

    private static final Pattern TYPE = Pattern.compile(".*\\b(class|record|enum|interface) .*");

    @Test
    void filesAreShort() {
        assertThat(tooLong(sources(), FILE, List::size)).isEmpty();
    }

    @Test
    void methodsAreShort() {
        Map<String, Integer> tooLong = new LinkedHashMap<>();
        sources().forEach((file) -> {
            List<String> lines = lines(file);
            for (int i = 0; i < lines.size(); i++) {
                int length = blockLength(lines, i);
                if (length > METHOD) {
                    tooLong.put(file.getFileName() + ":" + (i + 1), length);
                }
            }
        });
        assertThat(tooLong).isEmpty();
    }

    /** Returns the number of lines of the block that begins here; zero if none begins. */
    private static int blockLength(List<String> lines, int start) {
        Matcher header = BLOCK.matcher(lines.get(start));
        if (!header.matches() || TYPE.matcher(lines.get(start)).matches() || !isMember(lines, start)) {
            return 0;
        }
        int open = start;
        while (isContinuation(lines, open + 1, header.group(1))) {
            open++;
        }
        if (!COMMENT.matcher(lines.get(open)).replaceFirst("").endsWith("{")) {
            return 0;
        }
        int end = open + 1;
        while (end < lines.size() && !lines.get(end).startsWith(header.group(1) + "}")) {
            end++;
        }
        return end - start + 1;
    }

    /** A member has an empty line before it, a comment or an annotation. */
    private static boolean isMember(List<String> lines, int line) {
        String before = lines.get(line - 1).strip();
        return before.isEmpty() || before.startsWith("@") || before.endsWith("*/");
    }

    /**
     * The formatter puts the rest of a statement two steps to the right of its beginning.
     */
    private static boolean isContinuation(List<String> lines, int line, String indentation) {
        return line < lines.size() && lines.get(line).startsWith(indentation + "        ")
                && !COMMENT.matcher(lines.get(line - 1)).replaceFirst("").endsWith("{");
    }

    @Test
    void scriptsAreShort() {
        List<Path> scripts = files("src/main/resources/io/delayqueue/redis", ".lua");
        assertThat(tooLong(scripts, SCRIPT, SizeBudgetTests::withoutHeader).keySet())
            .containsExactlyInAnyOrderElementsOf(LONGER_SCRIPTS.keySet());
    }

    private static int withoutHeader(List<String> script) {
        return (int) script.stream().dropWhile((line) -> line.startsWith("--") || line.isBlank()).count();
    }

    private static Map<String, Integer> tooLong(List<Path> files, int budget, ToIntFunction<List<String>> size) {
        Map<String, Integer> tooLong = new LinkedHashMap<>();
        files.forEach((file) -> {
            int lines = size.applyAsInt(lines(file));
            if (lines > budget) {
                tooLong.put(file.getFileName().toString(), lines);
            }
        });
        return tooLong;
    }

    private static List<Path> sources() {
        return Stream
            .of("src/main/java", "../delayqueue-web/src/main/java", "../delayqueue-migrate/src/main/java",
                    "../delayqueue-test/src/main/java")
            .flatMap((directory) -> files(directory, ".java").stream())
            .toList();
    }

    private static List<Path> files(String directory, String suffix) {
        try (Stream<Path> all = Files.walk(Path.of(directory))) {
            List<Path> found = all.filter((file) -> file.toString().endsWith(suffix)).toList();
            assertThat(found).isNotEmpty();
            return found;
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

}

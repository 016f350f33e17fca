package io.delayqueue.mutation;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Changes the scripts, one guard, operand, comparison or statement at a time, and has the
 * tests look at each: all must be noticed, but for those that are known to make no
 * difference. Takes its time, so the build does not run it:
 * {@code scripts/mutate-scripts}.
 * <p>
 * {@code -Ddq.mutants=claim.lua} takes those only whose place begins so, and
 * {@code -Ddq.mutants.guards=true} those that take a guard away: what it guards against
 * is let pass, or what it guards is never done, or a trial of what is permitted is left
 * out. {@code -Ddq.mutants.limit=240} lets tests take so many seconds on a slow machine
 * before a script counts as endless, and {@code -Ddq.random.steps=150} shortens walks
 * there.
 */
class ScriptMutations {

    private static final Path SCRIPTS = Path.of("src/main/resources/io/delayqueue/redis");

    private static final Path TARGET = Path.of("target").toAbsolutePath();

    private static final Path REPORT = TARGET.resolve("mutation.txt");

    @Test
    @Timeout(value = 3, unit = TimeUnit.HOURS)
    void everyOneIsNoticed(@TempDir Path work) throws IOException {
        System.setProperty("dq.seed", System.getProperty("dq.seed", "1"));
        Map<String, String> equivalents = Equivalents.read();
        List<String> survivors = new ArrayList<>();
        Map<String, int[]> score = new LinkedHashMap<>();
        Files.deleteIfExists(REPORT);
        try (MutantTests tests = new MutantTests(TARGET, work, SCRIPTS)) {
            assertPassUnchanged(tests);
            List<Mutant> chosen = chosen();
            report(chosen.size() + " mutants");
            for (Mutant mutant : chosen) {
                int[] counts = score.computeIfAbsent(mutant.file(), (file) -> new int[3]);
                counts[0]++;
                if (equivalents.containsKey(mutant.key())) {
                    counts[2]++;
                    report("equal     " + mutant);
                    continue;
                }
                long start = System.nanoTime();
                String killer = tests.run(mutant, read(mutant.file()));
                long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
                if (killer.isEmpty()) {
                    survivors.add(mutant.toString());
                }
                else {
                    counts[1]++;
                }
                report("%s %s by %s in %d ms".formatted(killer.isEmpty() ? "SURVIVED " : "killed   ", mutant, killer,
                        millis));
            }
            assertPassUnchanged(tests);
        }
        score.forEach((file, counts) -> report(
                "%s: %d mutants, %d noticed, %d make no difference".formatted(file, counts[0], counts[1], counts[2])));
        assertThat(survivors).isEmpty();
    }

    /** Or everything would seem to be noticed. */
    private static void assertPassUnchanged(MutantTests tests) {
        String untouched = read("claim.lua");
        assertThat(tests.run(new Mutant("claim.lua", 1, "", "", untouched), untouched)).as("without any change")
            .isEmpty();
    }

    private static List<Mutant> chosen() {
        String chosen = System.getProperty("dq.mutants", "");
        boolean guards = Boolean.getBoolean("dq.mutants.guards");
        return all().stream()
            .filter((mutant) -> Stream.of(chosen.split(",", -1)).anyMatch(mutant.toString()::startsWith))
            .filter((mutant) -> !guards || mutant.removesGuard())
            .toList();
    }

    static List<Mutant> all() {
        try (Stream<Path> scripts = Files.list(SCRIPTS)) {
            return scripts.map((path) -> path.getFileName().toString())
                .sorted()
                .flatMap((file) -> ScriptMutants.of(file, read(file)).stream())
                .toList();
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private static String read(String file) {
        try {
            return Files.readString(SCRIPTS.resolve(file));
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private static void report(String line) {
        System.out.println(line);
        try {
            Files.writeString(REPORT, line + System.lineSeparator(), StandardOpenOption.CREATE,
                    StandardOpenOption.APPEND);
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

}

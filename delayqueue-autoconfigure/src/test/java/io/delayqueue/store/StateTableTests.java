package io.delayqueue.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

import io.delayqueue.store.contract.MessageStoreContract;
import org.junit.jupiter.api.Test;
import org.junit.platform.commons.support.HierarchyTraversalMode;
import org.junit.platform.commons.support.ReflectionSupport;

import static org.assertj.core.api.Assertions.assertThat;

/** Holds docs/internals/state-table.md to the contract that it names. */
class StateTableTests {

    private static final List<String> OPERATIONS = List.of("send KEEP", "send KEEP with a duplicate window",
            "send AFTER_CURRENT", "send REPLACE", "cancel", "reschedule", "redrive", "claim", "acknowledge", "retry",
            "release", "extend", "start", "dead-letter", "purge", "find");

    private static final List<String> STATES = List.of("absent", "SCHEDULED", "due", "LEASED", "LEASED by another",
            "lapsed", "lapsed, noticed", "with successor", "cancelled", "DEAD", "replayed");

    private static final int COLUMNS = 4;

    @Test
    void hasARowForEachStateOfEachOperation() throws IOException {
        Map<String, List<String[]>> table = table();

        // Has the states of a schedule instead.
        assertThat(table.remove("fire")).isNotEmpty().allSatisfy((row) -> assertThat(row).hasSize(COLUMNS));
        assertThat(table).containsOnlyKeys(OPERATIONS);
        assertThat(table).allSatisfy((operation, rows) -> {
            assertThat(rows).allSatisfy((row) -> assertThat(row).hasSize(COLUMNS).noneMatch(String::isBlank));
            assertThat(rows).extracting((row) -> row[0]).doesNotHaveDuplicates().containsAll(STATES);
        });
    }

    @Test
    void namesOnlyCasesThatExist() throws IOException {
        Set<String> cases = Arrays.stream(MessageStoreContract.class.getDeclaredClasses())
            .flatMap((nested) -> ReflectionSupport
                .findMethods(nested, (method) -> method.isAnnotationPresent(Test.class),
                        HierarchyTraversalMode.TOP_DOWN)
                .stream()
                .map((method) -> "`%s.%s`".formatted(nested.getSimpleName(), method.getName())))
            .collect(Collectors.toCollection(TreeSet::new));

        assertThat(table().values().stream().flatMap(List::stream).map((row) -> row[COLUMNS - 1])).isSubsetOf(cases);
    }

    /** The rows of each operation, without headings. */
    private static Map<String, List<String[]>> table() throws IOException {
        Map<String, List<String[]>> table = new LinkedHashMap<>();
        String operation = "";
        for (String line : Files.readAllLines(Path.of("..", "docs", "internals", "state-table.md"))) {
            if (line.startsWith("## ")) {
                operation = line.substring(3);
                table.put(operation, new ArrayList<>());
            }
            else if (line.startsWith("| ") && !line.startsWith("| State ") && !line.startsWith("| --- ")) {
                table.get(operation).add(line.substring(2, line.length() - 2).split(" \\| "));
            }
        }
        return table;
    }

}

package io.delayqueue.actuator;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;

import io.delayqueue.actuator.DelayQueueEndpoint.Action;
import io.delayqueue.actuator.DelayQueueEndpoint.Section;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Checks that docs/operations.md lists the calls of the endpoint, and no others. */
class EndpointDocsTests {

    private static final Pattern ROW = Pattern
        .compile("(?m)^\\| `(GET|POST) /actuator/delayqueue/([a-z-]+)/\\{[a-z]+}` \\| (.*) \\|$");

    @Test
    void everySectionCanBeReadAndHasItsActions() throws IOException {
        String page = Files.readString(Path.of("../docs/operations.md"));
        assertThat(page).contains("| `GET /actuator/delayqueue` |");
        Set<String> read = new TreeSet<>();
        Map<String, Set<Action>> actions = new TreeMap<>();
        ROW.matcher(page).results().forEach((row) -> {
            if (row.group(1).equals("GET")) {
                read.add(row.group(2));
            }
            else {
                Arrays.stream(Action.values())
                    .filter((action) -> row.group(3).matches(".*[`\"]" + name(action) + "[`\"].*"))
                    .forEach((action) -> actions.computeIfAbsent(row.group(2), (section) -> new TreeSet<>())
                        .add(action));
            }
        });

        assertThat(read)
            .containsExactlyInAnyOrderElementsOf(Arrays.stream(Section.values()).map(EndpointDocsTests::name).toList());
        Map<String, Set<Action>> real = new TreeMap<>();
        Arrays.stream(Section.values())
            .filter((section) -> !section.actions().isEmpty())
            .forEach((section) -> real.put(name(section), new TreeSet<>(section.actions())));
        assertThat(actions).isEqualTo(real);
    }

    private static String name(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

}

package io.delayqueue.redis.script;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Adds to each script those declarations of {@code prelude.lua} that it uses: creating a
 * function costs a script time in every call, even if the function is never called.
 * <p>
 * Relies on the layout: a declaration begins with {@code local} at the start of a line,
 * and a block of a script ends before the first line that is indented less. A script uses
 * a declaration if it contains its name, so none of its variables may have such a name.
 */
final class Prelude {

    /** Marks where declarations go that only the block beginning with this line uses. */
    private static final String PLACE = "-- prelude";

    /** Its files, each of which uses only declarations of those before. */
    private static final List<String> FILES = List.of("prelude", "prelude-values", "prelude-entries", "prelude-lanes",
            "prelude-permissions", "prelude-groups", "prelude-journal", "prelude-duplicates", "prelude-messages",
            "prelude-settlements", "prelude-leases", "prelude-wake-ups", "prelude-schedules", "prelude-skips",
            "prelude-occurrences", "prelude-activity", "prelude-activity-queues", "prelude-activity-minutes");

    private static final Pattern DECLARATION = Pattern.compile("^local (?:function )?(\\w+).*");

    private static final Pattern WORD = Pattern.compile("\\w+");

    private final Map<String, String> declarations = new LinkedHashMap<>();

    Prelude(String text) {
        String name = "";
        for (String line : text.lines().map(Prelude::withoutComment).filter((each) -> !each.isBlank()).toList()) {
            Matcher declaration = DECLARATION.matcher(line);
            name = declaration.matches() ? declaration.group(1) : name;
            this.declarations.merge(name, line + "\n", String::concat);
        }
    }

    /** Reads its files, by a function that returns the text of a file. */
    static Prelude read(UnaryOperator<String> read) {
        return new Prelude(FILES.stream().map(read).collect(Collectors.joining()));
    }

    /** Adds to a script the declarations that it uses. */
    String complete(String script) {
        List<String> lines = script.lines().toList();
        Map<Integer, Set<String>> usedByBlocks = new HashMap<>();
        List<String> others = new ArrayList<>();
        for (int i = 0; i < lines.size(); i++) {
            if (lines.get(i).strip().equals(PLACE)) {
                int end = endOfBlock(lines, i);
                usedByBlocks.put(i, usedBy(lines.subList(i, end)));
                i = end - 1;
            }
            else {
                others.add(lines.get(i));
            }
        }
        Set<String> usedByOthers = usedBy(others);
        StringBuilder complete = new StringBuilder(declare(usedByOthers));
        for (int i = 0; i < lines.size(); i++) {
            Set<String> here = new TreeSet<>(usedByBlocks.getOrDefault(i, Set.of()));
            here.removeAll(usedByOthers);
            complete.append(declare(here)).append(lines.get(i)).append('\n');
        }
        return complete.toString();
    }

    private static int endOfBlock(List<String> lines, int start) {
        int end = start;
        while (end < lines.size()
                && (lines.get(end).isBlank() || indentation(lines.get(end)) >= indentation(lines.get(start)))) {
            end++;
        }
        return end;
    }

    private static int indentation(String line) {
        return line.length() - line.stripLeading().length();
    }

    private Set<String> usedBy(List<String> lines) {
        Set<String> names = new TreeSet<>();
        lines.forEach((line) -> addUsed(line, names));
        return names;
    }

    /** Adds the names in a piece of text, and the names in their declarations. */
    private void addUsed(String text, Set<String> names) {
        Matcher word = WORD.matcher(withoutComment(text));
        while (word.find()) {
            String declaration = this.declarations.get(word.group());
            if (declaration != null && names.add(word.group())) {
                declaration.lines().forEach((line) -> addUsed(line, names));
            }
        }
    }

    private static String withoutComment(String line) {
        return line.replaceFirst("\\s*--.*", "");
    }

    /**
     * Returns declarations in the order of the prelude, where each follows those it uses.
     */
    private String declare(Collection<String> names) {
        StringBuilder text = new StringBuilder();
        this.declarations.forEach((name, declaration) -> text.append(names.contains(name) ? declaration : ""));
        return text.toString();
    }

}

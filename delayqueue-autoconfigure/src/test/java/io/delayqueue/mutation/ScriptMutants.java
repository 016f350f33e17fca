package io.delayqueue.mutation;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * All that can be wrong with a script by one small change: a condition that always holds
 * or never does, an operand or a {@code not} that is missing, a comparison that is off by
 * one or turned around, a rounding or a bound the wrong way, a statement that is missing.
 */
final class ScriptMutants {

    private static final Map<String, String> OTHERS = Map.of("<", "<=", "<=", "<", ">", ">=", ">=", ">", "==", "~=",
            "~=", "==", "math.ceil", "math.floor", "math.floor", "math.ceil", "math.min", "math.max", "math.max",
            "math.min");

    private static final Set<String> AROUND_EITHER = Set.of("and", "or", ",", "=");

    private static final Set<String> AROUND_OR = Set.of("or", ",", "=");

    private final String file;

    private final String text;

    private final LuaTokens tokens;

    private final Map<String, Mutant> mutants = new LinkedHashMap<>();

    private ScriptMutants(String file, String text) {
        this.file = file;
        this.text = text;
        this.tokens = new LuaTokens(text);
    }

    /** The mutants of a script, in the order of its lines. */
    static List<Mutant> of(String file, String text) {
        ScriptMutants mutants = new ScriptMutants(file, text);
        for (int i = 0; i < mutants.tokens.size(); i++) {
            mutants.mutate(i);
        }
        return List.copyOf(mutants.mutants.values());
    }

    private void mutate(int index) {
        String word = this.tokens.get(index).word();
        switch (word) {
            case "if", "elseif" -> condition(index, "then", "true", "false");
            case "while" -> condition(index, "do", "false");
            case "and", "or" -> operands(index, word.equals("and") ? AROUND_EITHER : AROUND_OR);
            case "not" -> replace(index, index, "");
            default -> {
                if (OTHERS.containsKey(word)) {
                    replace(index, index, OTHERS.get(word));
                }
                if (this.tokens.beginsStatement(index)) {
                    replace(index, this.tokens.endOf(index, Set.of()), "");
                }
            }
        }
    }

    private void condition(int index, String end, String... values) {
        int last = this.tokens.next(index, end) - 1;
        for (String value : values) {
            replace(index + 1, last, value);
        }
    }

    private void operands(int index, Set<String> around) {
        replace(this.tokens.startOf(index - 1, around), index, "");
        replace(index, this.tokens.endOf(index + 1, around), "");
    }

    private void replace(int first, int last, String by) {
        int start = this.tokens.get(first).start();
        int line = (int) this.text.substring(0, start).chars().filter((c) -> c == '\n').count() + 1;
        String before = this.tokens.between(first, last).replaceAll("\\s+", " ");
        String code = this.text.lines().skip(line - 1).findFirst().orElseThrow().strip();
        String change = "%s -> %s".formatted(before, by.isEmpty() ? "nothing" : by);
        String mutated = this.text.substring(0, start) + by + this.text.substring(this.tokens.get(last).end());
        this.mutants.putIfAbsent(mutated, new Mutant(this.file, line, code, change, mutated));
    }

}

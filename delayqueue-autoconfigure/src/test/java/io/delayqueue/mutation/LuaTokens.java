package io.delayqueue.mutation;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The words of a script, and where its statements and operands end. Knows as much of Lua
 * as the scripts use: one statement begins where two operands would stand side by side.
 */
final class LuaTokens {

    private static final Pattern TOKEN = Pattern
        .compile("--[^\\n]*|'(?:[^'\\\\]|\\\\.)*'|[A-Za-z_][\\w.]*|\\d[\\w.]*|==|~=|<=|>=|\\.\\.|\\S");

    private static final Set<String> OPERATORS = Set.of("and", "or", "not");

    private static final Set<String> KEYWORDS = Set.of("if", "then", "else", "elseif", "end", "for", "while", "do",
            "in", "local", "function", "return", "break", "repeat", "until");

    private static final Set<String> OPENING = Set.of("(", "[", "{");

    private static final Set<String> CLOSING = Set.of(")", "]", "}");

    private final String text;

    private final List<Token> tokens = new ArrayList<>();

    LuaTokens(String text) {
        this.text = text;
        Matcher matcher = TOKEN.matcher(text);
        while (matcher.find()) {
            if (!matcher.group().startsWith("--")) {
                this.tokens.add(new Token(matcher.group(), matcher.start(), matcher.end()));
            }
        }
    }

    int size() {
        return this.tokens.size();
    }

    Token get(int index) {
        return this.tokens.get(index);
    }

    boolean is(int index, String word) {
        return index >= 0 && index < size() && get(index).word().equals(word);
    }

    /** The text from one token to another, both included. */
    String between(int first, int last) {
        return this.text.substring(get(first).start(), get(last).end());
    }

    /** The next token that is this word. */
    int next(int from, String word) {
        int index = from;
        while (!is(index, word)) {
            index++;
        }
        return index;
    }

    /** Whether a call or an assignment begins here. */
    boolean beginsStatement(int index) {
        if (!isName(index) || is(index - 1, "local") || is(index - 1, "function") || is(index - 1, "for")) {
            return false;
        }
        return index == 0 || Set.of("then", "do", "else", "end").contains(get(index - 1).word())
                || (endsOperand(index - 1) && !is(index - 1, "return") && depth(index) == 0);
    }

    private int depth(int index) {
        int depth = 0;
        for (int i = 0; i < index; i++) {
            depth += OPENING.contains(get(i).word()) ? 1 : CLOSING.contains(get(i).word()) ? -1 : 0;
        }
        return depth;
    }

    /** The last token of what begins here, up to one of these words. */
    int endOf(int start, Set<String> words) {
        int depth = 0;
        int index = start;
        while (index < size()) {
            String word = get(index).word();
            boolean over = KEYWORDS.contains(word) || words.contains(word) || CLOSING.contains(word)
                    || (index > start && endsOperand(index - 1) && beginsOperand(index));
            if (depth == 0 && over) {
                return index - 1;
            }
            depth += OPENING.contains(word) ? 1 : CLOSING.contains(word) ? -1 : 0;
            index++;
        }
        return size() - 1;
    }

    /** The first token of what ends here, down to one of these words. */
    int startOf(int end, Set<String> words) {
        int depth = 0;
        int index = end;
        while (index >= 0) {
            String word = get(index).word();
            boolean over = KEYWORDS.contains(word) || words.contains(word) || OPENING.contains(word)
                    || (index < end && endsOperand(index) && beginsOperand(index + 1));
            if (depth == 0 && over) {
                return index + 1;
            }
            depth += CLOSING.contains(word) ? 1 : OPENING.contains(word) ? -1 : 0;
            index--;
        }
        return 0;
    }

    private boolean isName(int index) {
        String word = get(index).word();
        return Character.isLetter(word.charAt(0)) && !KEYWORDS.contains(word) && !OPERATORS.contains(word);
    }

    private boolean beginsOperand(int index) {
        return isName(index) || Character.isDigit(get(index).word().charAt(0)) || get(index).word().startsWith("'");
    }

    private boolean endsOperand(int index) {
        return beginsOperand(index) || CLOSING.contains(get(index).word());
    }

    /**
     * A word.
     *
     * @param word as it stands there
     * @param start where it begins
     * @param end behind it
     */
    record Token(String word, int start, int end) {
    }

}

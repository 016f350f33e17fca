package io.delayqueue.migrate.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.delayqueue.QueueName;

/**
 * Maps queues of the source to queues of DelayQueue, by rules such as
 * {@code shop:*=shop-*}: a star matches any characters, which replace the star on the
 * right. The first rule that matches counts; a queue that no rule matches is not moved.
 */
public final class QueueMapping {

    private final List<Rule> rules;

    private QueueMapping(List<Rule> rules) {
        this.rules = rules;
    }

    /**
     * Parses rules.
     * @param rules such as {@code orders}, {@code orders=order-timeout} or
     * {@code shop:*=shop-*}; none maps each queue to the queue of its name
     * @throws IllegalArgumentException if one is not valid
     */
    public static QueueMapping of(List<String> rules) {
        return new QueueMapping(rules.isEmpty() ? List.of(Rule.parse("*")) : rules.stream().map(Rule::parse).toList());
    }

    /**
     * Returns the queue to which the entries of a queue are sent.
     * @return the queue; empty if no rule matches
     * @throws IllegalArgumentException if the name is not valid for DelayQueue
     */
    public Optional<String> target(String source) {
        for (Rule rule : this.rules) {
            Matcher matcher = rule.source().matcher(source);
            if (matcher.matches()) {
                String target = rule.target(matcher);
                try {
                    return Optional.of(new QueueName(target).value());
                }
                catch (IllegalArgumentException ex) {
                    throw new IllegalArgumentException(
                            "Queue '%s' of the source maps to '%s', which is not valid. %s. ".formatted(source, target,
                                    ex.getMessage()) + "Map it: --queue='%s=valid-name'".formatted(source),
                            ex);
                }
            }
        }
        return Optional.empty();
    }

    /** Returns the names of the source that the rules name without a star. */
    public List<String> names() {
        List<String> names = new ArrayList<>();
        this.rules.stream().map(Rule::literal).filter((name) -> !name.isEmpty()).forEach(names::add);
        return names;
    }

    private record Rule(Pattern source, String template, String literal) {

        static Rule parse(String text) {
            int equals = text.lastIndexOf('=');
            String source = (equals < 0) ? text : text.substring(0, equals);
            String target = (equals < 0) ? text : text.substring(equals + 1);
            long stars = stars(source);
            if (source.isEmpty() || target.isEmpty() || stars > 1 || stars(target) > stars) {
                throw new IllegalArgumentException(("--queue='%s' is not valid: use NAME, SOURCE=TARGET, or one * on "
                        + "both sides, such as 'shop:*=shop-*'")
                    .formatted(text));
            }
            String[] parts = source.split("\\*", 2);
            String pattern = Pattern.quote(parts[0]) + ((parts.length == 2) ? "(.*)" + Pattern.quote(parts[1]) : "");
            return new Rule(Pattern.compile(pattern, Pattern.DOTALL), target, (stars == 0) ? source : "");
        }

        private static long stars(String text) {
            return text.chars().filter((c) -> c == '*').count();
        }

        String target(Matcher matcher) {
            return (matcher.groupCount() == 0) ? this.template : this.template.replace("*", matcher.group(1));
        }

    }

}

package io.delayqueue.migrate.jdbc;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.StringTokenizer;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * Converts cron expressions of Quartz into those of Spring. An expression is converted if
 * both match the same local times, and is refused otherwise. Values are expanded and
 * written again, because Quartz counts days of the week from Sunday = 1, and its ranges
 * may wrap, such as {@code FRI-MON}.
 */
final class QuartzCron {

    private static final String ANY = "?";

    private static final List<String> MONTHS = List.of("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP",
            "OCT", "NOV", "DEC");

    /** In the order of Spring, which counts from Monday = 1. */
    private static final List<String> DAYS = List.of("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN");

    private static final Pattern NUMBERS = Pattern.compile("(\\*|(\\d{1,2})(?:-(\\d{1,2}))?)?(?:/(\\d{1,2}))?");

    /** Quartz ignores an increment behind names. */
    private static final Pattern NAMES = Pattern.compile("([A-Z]{3})(?:-([A-Z]{3}))?");

    private static final Pattern BEFORE_LAST_DAY = Pattern.compile("L-(\\d{1,2})");

    private static final Pattern NEAREST_WEEKDAY = Pattern.compile("(\\d{1,2})W");

    private static final Pattern LAST_OR_NTH_DAY = Pattern.compile("(\\d|[A-Z]{3})(L|#[1-5])");

    /** Each month has more days than that, so no day is in the month before. */
    private static final int SHORTEST_MONTH = 28;

    private QuartzCron() {
    }

    /**
     * Returns the expression of Spring.
     * @throws IllegalArgumentException if there is none; the message is a reason that
     * does not quote the expression
     */
    static String toSpring(String expression) {
        List<String> fields = new ArrayList<>();
        StringTokenizer tokens = new StringTokenizer(expression.toUpperCase(Locale.US), " \t");
        while (tokens.hasMoreTokens()) {
            fields.add(tokens.nextToken());
        }
        if (fields.size() < 6 || fields.size() > 7) {
            throw new IllegalArgumentException("it does not have six or seven fields");
        }
        if (fields.size() == 7 && !fields.get(6).equals("*")) {
            throw new IllegalArgumentException("its years are restricted");
        }
        String day = fields.get(3);
        String weekday = fields.get(5);
        if (day.equals(ANY) == weekday.equals(ANY)) {
            throw new IllegalArgumentException("exactly one of its fields of days must be '?'");
        }
        return String.join(" ", Field.SECOND.values(fields.get(0)), Field.MINUTE.values(fields.get(1)),
                Field.HOUR.values(fields.get(2)), day.equals(ANY) ? "*" : day(day), Field.MONTH.values(fields.get(4)),
                weekday.equals(ANY) ? "*" : weekday(weekday));
    }

    private static String day(String text) {
        Matcher beforeLast = BEFORE_LAST_DAY.matcher(text);
        Matcher nearest = NEAREST_WEEKDAY.matcher(text);
        if (text.equals("L") || text.equals("LW")) {
            return text;
        }
        if (beforeLast.matches()) {
            int days = Integer.parseInt(beforeLast.group(1));
            if (days >= SHORTEST_MONTH) {
                throw new IllegalArgumentException("its day is before the beginning of short months");
            }
            return (days == 0) ? "L" : "L-" + days;
        }
        if (nearest.matches()) {
            int day = Integer.parseInt(nearest.group(1));
            if (day <= 1 || day >= SHORTEST_MONTH) {
                throw new IllegalArgumentException("its nearest weekday is at the start or the end of the month");
            }
            return day + "W";
        }
        return Field.DAY.values(text);
    }

    private static String weekday(String text) {
        Matcher lastOrNth = LAST_OR_NTH_DAY.matcher(text);
        if (text.equals("L")) {
            return "SAT";
        }
        if (lastOrNth.matches()) {
            return Field.WEEKDAY.name(Field.WEEKDAY.value(lastOrNth.group(1))) + lastOrNth.group(2);
        }
        return Field.WEEKDAY.values(text);
    }

    /** Lists the fields, with the values and the largest increments of Quartz. */
    private enum Field {

        SECOND("seconds", 0, 59, 59),

        MINUTE("minutes", 0, 59, 59),

        HOUR("hours", 0, 23, 23),

        DAY("days of the month", 1, 31, 31),

        MONTH("months", 1, 12, 12),

        WEEKDAY("days of the week", 1, 7, 7);

        private final String text;

        private final int least;

        private final int most;

        private final int mostIncrement;

        Field(String text, int least, int most, int mostIncrement) {
            this.text = text;
            this.least = least;
            this.most = most;
            this.mostIncrement = mostIncrement;
        }

        /** Converts a list of values. */
        String values(String list) {
            TreeSet<Integer> values = new TreeSet<>();
            for (String item : list.split(",", -1)) {
                add(values, item);
            }
            return text(values);
        }

        private void add(TreeSet<Integer> values, String item) {
            Matcher names = NAMES.matcher(item);
            Matcher numbers = NUMBERS.matcher(item);
            if (names.matches()) {
                int first = value(names.group(1));
                add(values, first, (names.group(2) != null) ? value(names.group(2)) : first, 1);
            }
            else if (!item.isEmpty() && numbers.matches()) {
                addNumbers(values, numbers);
            }
            else {
                throw new IllegalArgumentException("its %s are not readable".formatted(this.text));
            }
        }

        private void addNumbers(TreeSet<Integer> values, Matcher numbers) {
            String first = numbers.group(2);
            String last = numbers.group(3);
            String step = numbers.group(4);
            int increment = (step != null) ? Integer.parseInt(step) : 1;
            if (increment == 0 || (last == null && increment > this.mostIncrement)) {
                throw new IllegalArgumentException("the increment of its %s is not valid".formatted(this.text));
            }
            int from = (first != null) ? value(first) : this.least;
            int to = (last != null) ? value(last) : (first != null && step == null) ? from : this.most;
            add(values, from, to, increment);
        }

        /** Adds a range, which wraps if its end is before its start. */
        private void add(TreeSet<Integer> values, int from, int to, int increment) {
            int number = this.most - this.least + 1;
            int end = (to < from) ? to + number : to;
            for (int value = from; value <= end; value += increment) {
                values.add((value > this.most) ? value - number : value);
            }
        }

        /** Returns the value of a number or a name of Quartz. */
        int value(String name) {
            int value = name.matches("\\d+") ? Integer.parseInt(name) : (this == MONTH) ? MONTHS.indexOf(name) + 1
                    : (this == WEEKDAY && DAYS.contains(name)) ? (DAYS.indexOf(name) + 1) % 7 + 1 : -1;
            if (value < this.least || value > this.most) {
                throw new IllegalArgumentException("its %s are not readable".formatted(this.text));
            }
            return value;
        }

        /** Returns the name that Spring has for a value of Quartz. */
        String name(int value) {
            return (this == WEEKDAY) ? DAYS.get((value + 5) % 7) : Integer.toString(value);
        }

        private String text(TreeSet<Integer> values) {
            if (values.size() == this.most - this.least + 1) {
                return "*";
            }
            if (this != WEEKDAY) {
                return Objects.requireNonNullElseGet(steps(values), () -> ranges(values));
            }
            TreeSet<Integer> fromMonday = new TreeSet<>();
            values.forEach((value) -> fromMonday.add((value == 1) ? 8 : value));
            return ranges(fromMonday);
        }

        /** Returns values of one distance; {@code null} if the distances differ. */
        private @Nullable String steps(TreeSet<Integer> values) {
            List<Integer> all = List.copyOf(values);
            if (all.size() < 3 || all.get(1) - all.get(0) == 1) {
                return null;
            }
            int step = all.get(1) - all.get(0);
            for (int i = 1; i < all.size(); i++) {
                if (all.get(i) - all.get(i - 1) != step) {
                    return null;
                }
            }
            int last = all.get(all.size() - 1);
            boolean toEnd = last + step > this.most;
            String first = (toEnd && all.get(0) == this.least) ? "*" : all.get(0).toString();
            return first + (toEnd ? "" : "-" + last) + "/" + step;
        }

        private String ranges(TreeSet<Integer> values) {
            List<String> ranges = new ArrayList<>();
            for (Integer first = values.first(); first != null;) {
                int last = first;
                while (values.contains(last + 1)) {
                    last++;
                }
                if (last - first >= 2) {
                    ranges.add(name(first) + "-" + name(last));
                }
                else {
                    values.subSet(first, last + 1).forEach((value) -> ranges.add(name(value)));
                }
                first = values.higher(last);
            }
            return String.join(",", ranges);
        }

    }

}

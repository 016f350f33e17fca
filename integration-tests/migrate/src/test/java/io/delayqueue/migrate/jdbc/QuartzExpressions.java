package io.delayqueue.migrate.jdbc;

import java.util.List;
import java.util.Random;
import java.util.StringJoiner;

/** Generates cron expressions in the dialect of Quartz; some of them are not valid. */
final class QuartzExpressions {

    private static final List<String> MONTHS = List.of("JAN", "feb", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP",
            "OCT", "NOV", "DEC");

    private static final List<String> DAYS = List.of("SUN", "MON", "tue", "WED", "THU", "FRI", "SAT");

    private final Random random;

    QuartzExpressions(long seed) {
        this.random = new Random(seed);
    }

    String next() {
        String seconds = often(3) ? list(0, 59, List.of()) : "0";
        String minutes = often(2) ? list(0, 59, List.of()) : Integer.toString(number(0, 59));
        String hours = often(2) ? list(0, 23, List.of()) : Integer.toString(number(0, 23));
        String months = often(2) ? list(1, 12, MONTHS) : "*";
        boolean byWeekday = often(2);
        String day = byWeekday ? "?" : day();
        String weekday = byWeekday ? weekday() : "?";
        String years = often(8) ? " " + List.of("*", "2024", "2024-2030", "2024/2").get(number(0, 3)) : "";
        return String.join(" ", seconds, minutes, hours, day, months, weekday) + years;
    }

    private boolean often(int oneOf) {
        return this.random.nextInt(oneOf) == 0;
    }

    private int number(int least, int most) {
        return least + this.random.nextInt(most - least + 1);
    }

    private String day() {
        return switch (number(0, 9)) {
            case 0 -> "L";
            case 1 -> "LW";
            case 2 -> "L-" + number(0, 30);
            case 3, 4 -> number(0, 31) + "W";
            case 5 -> "L-" + number(0, 5) + "W";
            default -> list(1, 31, List.of());
        };
    }

    private String weekday() {
        return switch (number(0, 9)) {
            case 0 -> "L";
            case 1 -> number(0, 8) + "L";
            case 2 -> DAYS.get(number(0, 6)) + "L";
            case 3 -> number(1, 7) + "#" + number(0, 6);
            case 4 -> DAYS.get(number(0, 6)) + "#" + number(1, 5);
            case 5 -> number(1, 7) + "#" + number(1, 5) + "," + number(1, 7);
            default -> list(1, 7, DAYS);
        };
    }

    private String list(int least, int most, List<String> names) {
        StringJoiner list = new StringJoiner(",");
        for (int i = often(3) ? number(2, 4) : 1; i > 0; i--) {
            list.add(item(least, most, names));
        }
        return list.toString();
    }

    private String item(int least, int most, List<String> names) {
        if (!names.isEmpty() && often(2)) {
            String name = names.get(number(0, names.size() - 1));
            String end = often(2) ? "-" + names.get(number(0, names.size() - 1)) : "";
            return name + end + (often(10) ? "/2" : "");
        }
        int first = number(least, most);
        int step = often(8) ? number(0, 70) : number(1, most / 2);
        return switch (number(0, 6)) {
            case 0 -> "*";
            case 1 -> "*/" + step;
            case 2 -> first + "/" + step;
            case 3 -> first + "-" + number(least, most);
            case 4 -> first + "-" + number(least, most) + "/" + step;
            case 5 -> often(10) ? "/" + step : Integer.toString(first);
            default -> Integer.toString(often(10) ? number(0, 70) : first);
        };
    }

}

package io.delayqueue.test;

import java.util.ArrayList;
import java.util.List;

/** Formats rows as a table of text, with columns as wide as their content. */
final class TextTable {

    /** Longer cells are cut. */
    private static final int WIDTH = 60;

    /** Further rows are counted only. */
    private static final int ROWS = 50;

    private final List<List<String>> rows = new ArrayList<>();

    private int more;

    TextTable(List<String> header) {
        this.rows.add(header);
    }

    void add(List<String> row) {
        if (this.rows.size() > ROWS) {
            this.more++;
            return;
        }
        this.rows.add(row.stream().map(TextTable::cell).toList());
    }

    private static String cell(String text) {
        String line = text.replaceAll("\\s+", " ").strip();
        return (line.length() <= WIDTH) ? line : line.substring(0, WIDTH - 3) + "...";
    }

    @Override
    public String toString() {
        int columns = this.rows.get(0).size();
        int[] widths = new int[columns];
        for (List<String> row : this.rows) {
            for (int i = 0; i < columns; i++) {
                widths[i] = Math.max(widths[i], row.get(i).length());
            }
        }
        StringBuilder text = new StringBuilder();
        for (List<String> row : this.rows) {
            StringBuilder line = new StringBuilder("  ");
            for (int i = 0; i < columns; i++) {
                line.append(row.get(i)).append(" ".repeat(widths[i] - row.get(i).length() + 2));
            }
            text.append(line.toString().stripTrailing()).append('\n');
        }
        if (this.more > 0) {
            text.append("  and ").append(this.more).append(" more\n");
        }
        return text.toString().stripTrailing();
    }

}

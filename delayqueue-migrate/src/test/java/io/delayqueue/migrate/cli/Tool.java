package io.delayqueue.migrate.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;

/** Runs a command of the tool in this JVM. */
public final class Tool {

    private final List<String> arguments = new ArrayList<>();

    private final StringWriter output = new StringWriter();

    public Tool(String... arguments) {
        with(arguments);
    }

    /** Adds arguments. */
    public Tool with(String... more) {
        this.arguments.addAll(List.of(more));
        return this;
    }

    /** Runs the command, and returns its exit code. */
    public int run() {
        PrintWriter writer = new PrintWriter(this.output, true);
        return Main.run(writer, writer, this.arguments.toArray(String[]::new));
    }

    /** Returns what it has printed. */
    public String output() {
        return this.output.toString();
    }

}

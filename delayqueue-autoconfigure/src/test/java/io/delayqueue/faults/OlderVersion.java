package io.delayqueue.faults;

import java.io.File;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;

/**
 * The library as it was in an earlier commit, compiled together with the {@link Node} of
 * today: so it is known to fit, and not only until a method is called that was not there.
 */
final class OlderVersion {

    private static final Path TESTS = Path.of("src", "test", "java");

    private final Path directory;

    private OlderVersion(Path directory) {
        this.directory = directory;
    }

    /** Whether the sources are in a git repository that has this commit. */
    static boolean isKnown(String commit) throws InterruptedException {
        try {
            return new ProcessBuilder("git", "cat-file", "-e", commit + "^{commit}").redirectErrorStream(true)
                .start()
                .waitFor() == 0;
        }
        catch (IOException ex) {
            return false;
        }
    }

    /** Takes the sources of a commit out of the repository, and compiles them. */
    static OlderVersion of(String commit) throws Exception {
        Path directory = Files.createDirectories(Path.of("target", "older-versions", commit).toAbsolutePath());
        List<Process> processes = ProcessBuilder
            .startPipeline(List.of(new ProcessBuilder("git", "archive", commit, "src/main"),
                    new ProcessBuilder("tar", "-x", "-C", directory.toString())));
        for (Process process : processes) {
            if (process.waitFor() != 0) {
                throw new IllegalStateException("The sources of %s cannot be had".formatted(commit));
            }
        }
        OlderVersion version = new OlderVersion(directory);
        version.compile();
        return version;
    }

    private void compile() throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StringWriter complaints = new StringWriter();
        try (var files = compiler.getStandardFileManager(null, null, null);
                Stream<Path> walk = Files.walk(this.directory.resolve("src/main/java"))) {
            List<Path> sources = new ArrayList<>(walk.filter((path) -> path.toString().endsWith(".java")).toList());
            sources.add(TESTS.resolve(Path.of(Node.class.getName().replace('.', '/') + ".java")));
            List<String> options = List.of("-proc:none", "-nowarn", "-parameters", "-implicit:class", "-cp",
                    libraries(), "-sourcepath", TESTS.toString(), "-d", Files.createDirectories(classes()).toString());
            if (!compiler.getTask(complaints, files, null, options, null, files.getJavaFileObjectsFromPaths(sources))
                .call()) {
                throw new IllegalStateException("Node does not fit that commit:\n" + complaints);
            }
        }
    }

    private Path classes() {
        return this.directory.resolve("classes");
    }

    /** A class path with this library, and with none of today's. */
    String classPath() {
        return String.join(File.pathSeparator, classes().toString(),
                this.directory.resolve("src/main/resources").toString(),
                Path.of("src", "test", "resources").toAbsolutePath().toString(), libraries());
    }

    private static String libraries() {
        return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
            .filter((entry) -> !Files.isDirectory(Path.of(entry)))
            .collect(Collectors.joining(File.pathSeparator));
    }

}

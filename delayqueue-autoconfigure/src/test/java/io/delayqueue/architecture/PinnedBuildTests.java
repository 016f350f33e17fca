package io.delayqueue.architecture;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Checks that the workflow names actions and images by digest, as a tag may be moved, and
 * that Dependabot proposes newer versions of all of them.
 */
class PinnedBuildTests {

    private static final Path ROOT = Path.of("..");

    private static final Pattern ACTION = Pattern.compile("uses: (.*)");

    private static final Pattern PINNED_ACTION = Pattern.compile("[\\w./-]+@[0-9a-f]{40} # v\\d+\\.\\d+\\.\\d+");

    private static final Pattern IMAGE = Pattern.compile("image: (.*)");

    private static final Pattern PINNED_IMAGE = Pattern.compile("[\\w./-]+:[\\w.-]+@sha256:[0-9a-f]{64}");

    @Test
    void actionsAreNamedByCommit() {
        List<String> actions = found(ROOT.resolve(".github/workflows"), ACTION);

        assertThat(actions).isNotEmpty().allMatch((action) -> PINNED_ACTION.matcher(action).matches());
    }

    @Test
    void imagesAreNamedByDigest() {
        List<String> images = new ArrayList<>(found(ROOT.resolve(".ci"), IMAGE));
        images.addAll(found(ROOT.resolve(".github/workflows"), IMAGE));

        assertThat(images).isNotEmpty().allMatch((image) -> PINNED_IMAGE.matcher(image).matches());
        assertThat(found(ROOT.resolve(".github/workflows"), Pattern.compile("(docker (?:run|pull) .*)"))).isEmpty();
    }

    @Test
    void newerVersionsOfAllAreProposed() {
        String updates = read(ROOT.resolve(".github/dependabot.yml"));

        assertThat(updates).contains("package-ecosystem: maven", "package-ecosystem: github-actions");
        files(ROOT.resolve(".ci")).stream()
            .filter((file) -> file.endsWith("compose.yaml"))
            .forEach((file) -> assertThat(updates)
                .contains("package-ecosystem: docker-compose\n    directory: /" + ROOT.relativize(file.getParent())));
    }

    private static List<String> found(Path directory, Pattern pattern) {
        return files(directory).stream()
            .flatMap((file) -> pattern.matcher(read(file)).results())
            .map((match) -> match.group(1).strip())
            .toList();
    }

    private static List<Path> files(Path directory) {
        try (Stream<Path> files = Files.walk(directory)) {
            return files.filter(Files::isRegularFile).toList();
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

}

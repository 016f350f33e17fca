package io.delayqueue.benchmarks.runner.process;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.CRC32;

/** Identifies programs by a CRC-32 of their files. */
public final class Checksum {

    private final CRC32 crc = new CRC32();

    private Checksum() {
    }

    /** Returns that of an executable. */
    public static String ofFile(Path file) {
        Checksum checksum = new Checksum();
        checksum.addFile(file);
        return checksum.toString();
    }

    /** Returns that of a class as it was compiled. */
    public static String ofClass(Class<?> type) {
        String name = type.getName();
        try (InputStream in = type.getResourceAsStream(name.substring(name.lastIndexOf('.') + 1) + ".class")) {
            Checksum checksum = new Checksum();
            if (in != null) {
                checksum.crc.update(in.readAllBytes());
            }
            return checksum.toString();
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /**
     * Returns that of a class path: the names and contents of all files, in the order of
     * its elements, whatever directories these are in.
     */
    public static String ofClassPath(List<Path> elements) {
        Checksum checksum = new Checksum();
        elements.forEach(checksum::addElement);
        return checksum.toString();
    }

    private void addElement(Path element) {
        if (!Files.isDirectory(element)) {
            addFile(element);
            return;
        }
        try (Stream<Path> files = Files.walk(element)) {
            for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
                this.crc.update(element.relativize(file).toString().getBytes(StandardCharsets.UTF_8));
                addFile(file);
            }
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private void addFile(Path file) {
        try (InputStream in = Files.newInputStream(file)) {
            byte[] buffer = new byte[1 << 16];
            for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
                this.crc.update(buffer, 0, length);
            }
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    @Override
    public String toString() {
        return String.format("%08x", this.crc.getValue());
    }

}

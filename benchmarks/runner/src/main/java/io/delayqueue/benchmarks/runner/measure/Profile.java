package io.delayqueue.benchmarks.runner.measure;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordingFile;

/** Where a JVM spent its time, by the samples of a flight recording. */
final class Profile {

    private Profile() {
    }

    /** The ten methods that were seen most on top of a stack, with their share. */
    static List<String> topTen(Path recording, Instant from, Instant to) {
        Map<String, Integer> counts = new HashMap<>();
        try (RecordingFile file = new RecordingFile(recording)) {
            while (file.hasMoreEvents()) {
                count(file.readEvent(), from, to, counts);
            }
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
        int all = counts.values().stream().mapToInt(Integer::intValue).sum();
        return counts.entrySet()
            .stream()
            .sorted(Map.Entry.<String, Integer>comparingByValue().reversed())
            .limit(10)
            .map((entry) -> "%.1f %% %s".formatted(100.0 * entry.getValue() / all, entry.getKey()))
            .toList();
    }

    private static void count(RecordedEvent event, Instant from, Instant to, Map<String, Integer> counts) {
        if (event.getEventType().getName().equals("jdk.ExecutionSample") && event.getStartTime().isAfter(from)
                && event.getStartTime().isBefore(to) && event.getStackTrace() != null
                && !event.getStackTrace().getFrames().isEmpty()) {
            RecordedFrame top = event.getStackTrace().getFrames().get(0);
            counts.merge(top.getMethod().getType().getName() + "." + top.getMethod().getName(), 1, Integer::sum);
        }
    }

}

package io.delayqueue.benchmarks.runner.measure;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
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

    /**
     * The ten methods that were seen most on top of a stack, with their share of the
     * samples in the spans.
     */
    static List<String> topTen(Path recording, List<DrainMeasure.Span> spans) {
        Map<String, Integer> counts = new HashMap<>();
        try (RecordingFile file = new RecordingFile(recording)) {
            while (file.hasMoreEvents()) {
                count(file.readEvent(), spans, counts);
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

    private static void count(RecordedEvent event, List<DrainMeasure.Span> spans, Map<String, Integer> counts) {
        if (event.getEventType().getName().equals("jdk.ExecutionSample") && event.getStackTrace() != null
                && !event.getStackTrace().getFrames().isEmpty()
                && spans.stream().anyMatch((span) -> span.contains(event.getStartTime()))) {
            RecordedFrame top = event.getStackTrace().getFrames().get(0);
            counts.merge(top.getMethod().getType().getName() + "." + top.getMethod().getName(), 1, Integer::sum);
        }
    }

}

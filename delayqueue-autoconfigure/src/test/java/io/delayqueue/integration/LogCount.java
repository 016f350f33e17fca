package io.delayqueue.integration;

import org.springframework.boot.test.system.CapturedOutput;

/** Counts what a test has logged. */
final class LogCount {

    private LogCount() {
    }

    /** How many lines contain all of the texts. */
    static long of(CapturedOutput output, String... texts) {
        return output.getAll().lines().filter((line) -> {
            for (String text : texts) {
                if (!line.contains(text)) {
                    return false;
                }
            }
            return true;
        }).count();
    }

}

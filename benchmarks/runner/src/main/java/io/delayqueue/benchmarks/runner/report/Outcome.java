package io.delayqueue.benchmarks.runner.report;

/**
 * Holds the outcome of a goal.
 *
 * @param status whether it is met
 * @param figures the figures that say so
 */
record Outcome(Status status, String figures) {

    static final Outcome NOT_MEASURED = new Outcome(Status.NOT_MEASURED, "");

    static Outcome of(boolean met, String figures) {
        return new Outcome(met ? Status.MET : Status.NOT_MET, figures);
    }

    enum Status {

        MET("met"),

        NOT_MET("**not met**"),

        NOT_MEASURED("not measured");

        private final String text;

        Status(String text) {
            this.text = text;
        }

        String text() {
            return this.text;
        }

    }

}

package io.delayqueue.benchmarks.runner.result;

import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;

import org.jspecify.annotations.Nullable;

/**
 * One contender in one scenario in one round.
 *
 * @param contender who
 * @param scenario with what load; the same for all contenders
 * @param size the scenario's place on the axis of a plot, such as messages pending
 * @param round from 1
 * @param figures what was measured, by name; see {@link Figure}
 * @param delivery the delivery check; {@code null} where nothing is delivered
 * @param weather what else the machine did
 * @param notes what does not fit into figures, such as a failure or a profile
 */
public record Cell(String contender, String scenario, double size, int round, Map<String, Double> figures,
        @Nullable Delivery delivery, Weather weather, List<String> notes) {

    /** The scenario of a cell that stands for an exception. */
    public static final String FAILED = "failed";

    /**
     * For how long it was measured, in seconds. Results that do not record it have it
     * where a rate and the number of messages are known.
     */
    public OptionalDouble seconds() {
        Double recorded = this.figures.get(Figure.SECONDS.name());
        if (recorded != null) {
            return OptionalDouble.of(recorded);
        }
        Double rate = this.figures.get(Figure.PER_SECOND.name());
        return (rate == null || rate <= 0 || this.delivery == null) ? OptionalDouble.empty()
                : OptionalDouble.of((this.delivery.expected() - this.delivery.missing()) / rate);
    }

}

package io.delayqueue.benchmarks.contender;

import java.util.List;
import java.util.Map;

/**
 * How a contender is to run.
 *
 * @param port where Redis listens, on the loopback interface
 * @param queues the queues that are sent to and listened to
 * @param handlers most messages of a queue handled at the same time; zero for the
 * contender's own default
 * @param options what only some contenders know, such as {@code ids=number}, which makes
 * the number of a message its id
 */
public record Setup(int port, List<String> queues, int handlers, Map<String, String> options) {

    /** Whether messages are sent under an id made of their number. */
    public boolean idsOfNumbers() {
        return "number".equals(this.options.get("ids"));
    }

    /** The id of a message whose id is made of its number. */
    public static String id(long number) {
        return "m" + number;
    }

}

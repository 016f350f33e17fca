package io.delayqueue.benchmarks.contender;

/**
 * The payload of all messages.
 *
 * @param number what the delivery check knows the message by; below zero for one that
 * only lies in the backlog and must not be handled
 * @param dueMicros when it is due, in microseconds since 1970
 * @param text padding
 */
public record Work(long number, long dueMicros, String text) {

    private static final String PADDING = "x".repeat(1 << 16);

    /**
     * Bytes of the payload as JSON, without the digits of its number and without text.
     */
    private static final int FRAME = "{'number':,'dueMicros':1234567890123456,'text':''}".length();

    /**
     * A payload that takes {@code bytes} bytes as JSON, or a few more if they are few.
     */
    public static Work of(long number, long dueMicros, int bytes) {
        int length = Math.max(0, bytes - FRAME - Long.toString(number).length());
        return new Work(number, dueMicros, PADDING.substring(0, length));
    }

    /** The payload as JSON, for contenders that are not to spend time on writing it. */
    public String toJson() {
        return "{\"number\":" + this.number + ",\"dueMicros\":" + this.dueMicros + ",\"text\":\"" + this.text + "\"}";
    }

    /** Reads what {@link #toJson()} wrote, and nothing else. */
    public static Work fromJson(String json) {
        int afterNumber = json.indexOf(',');
        int afterDue = json.indexOf(',', afterNumber + 1);
        return new Work(Long.parseLong(json, "{'number':".length(), afterNumber, 10),
                Long.parseLong(json, afterNumber + ",'dueMicros':".length(), afterDue, 10),
                json.substring(afterDue + ",'text':'".length(), json.length() - "'}".length()));
    }

}

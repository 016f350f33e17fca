package io.delayqueue.migrate;

import org.jspecify.annotations.Nullable;

/**
 * Turns the stored payload of a source into the object that is sent. Two are built in:
 * {@code --payload=json} and {@code --payload=string}. Any other is named by its class,
 * which needs a public constructor without arguments:
 * {@code --payload=com.example.OrderDecoder}. <pre class="code">
 * public class OrderDecoder implements PayloadDecoder {
 *
 *     public Object decode(SourceEntry entry) {
 *         ByteBuffer bytes = ByteBuffer.wrap(entry.payload());
 *         return Map.of("orderId", bytes.getLong());
 *     }
 *
 * }
 * </pre>
 * <p>
 * The program never deserializes Java objects or Kryo by itself, because stored bytes
 * could then run code. A decoder for such bytes should allow its own classes only.
 * Decoders are called from one thread.
 */
@FunctionalInterface
public interface PayloadDecoder {

    /**
     * Decodes the payload of an entry.
     * @param entry the entry
     * @return the payload to send, which is written as JSON like that of any message
     * @throws Exception if the payload is not readable; the entry is kept as unreadable,
     * and decoded again by the next run. The report shows the class of the exception, and
     * its message only if it is an {@link IllegalArgumentException}
     */
    Object decode(SourceEntry entry) throws Exception;

    /**
     * Returns the id for the message. If the queue already holds another message with
     * that id, the message is sent under the id of the entry instead, so none is lost.
     * @param entry the entry
     * @param payload the decoded payload
     * @return the id, by which the application can cancel the message; {@code null} for
     * the id of the entry
     */
    default @Nullable String id(SourceEntry entry, Object payload) {
        return entry.businessId();
    }

}

package io.delayqueue.peers.redisson;

import java.io.IOException;

import io.delayqueue.migrate.PayloadDecoder;
import io.delayqueue.migrate.SourceEntry;
import io.netty.buffer.Unpooled;
import org.redisson.client.handler.State;
import org.redisson.codec.Kryo5Codec;

/**
 * Decodes the values that the codec of this version of Redisson has written. A decoder
 * for other than test data limits the classes.
 */
public final class KryoOrderDecoder implements PayloadDecoder {

    private final Kryo5Codec codec = new Kryo5Codec();

    @Override
    public Object decode(SourceEntry entry) throws IOException {
        return this.codec.getValueDecoder().decode(Unpooled.wrappedBuffer(entry.payload()), new State());
    }

}

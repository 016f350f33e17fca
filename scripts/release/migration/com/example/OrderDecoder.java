package com.example;

import java.nio.ByteBuffer;
import java.util.Map;

import io.delayqueue.migrate.PayloadDecoder;
import io.delayqueue.migrate.SourceEntry;

/** Decodes payloads that are a number of eight bytes. */
public class OrderDecoder implements PayloadDecoder {

    @Override
    public Object decode(SourceEntry entry) {
        return Map.of("orderId", ByteBuffer.wrap(entry.payload()).getLong());
    }

}

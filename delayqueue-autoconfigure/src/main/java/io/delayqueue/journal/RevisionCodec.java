package io.delayqueue.journal;

import java.io.ByteArrayOutputStream;
import java.util.List;
import java.util.stream.LongStream;

/**
 * Encodes sorted revisions as the differences between them, each as an integer of
 * variable length (LEB128).
 */
final class RevisionCodec {

    private static final int BITS = 7;

    private static final int MORE = 1 << BITS;

    private RevisionCodec() {
    }

    static byte[] encode(List<Long> revisions) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        long last = 0;
        for (long revision : revisions.stream().mapToLong(Long::longValue).sorted().toArray()) {
            long rest = revision - last;
            while (rest >= MORE) {
                bytes.write((int) (rest % MORE) | MORE);
                rest >>= BITS;
            }
            bytes.write((int) rest);
            last = revision;
        }
        return bytes.toByteArray();
    }

    static long[] decode(byte[] bytes) {
        LongStream.Builder revisions = LongStream.builder();
        long last = 0;
        long difference = 0;
        int shift = 0;
        for (byte part : bytes) {
            difference |= (long) (part & (MORE - 1)) << shift;
            shift += BITS;
            if ((part & MORE) == 0) {
                last += difference;
                revisions.add(last);
                difference = 0;
                shift = 0;
            }
        }
        return revisions.build().toArray();
    }

}

package io.delayqueue.integration.security;

import java.util.Arrays;

import static io.delayqueue.integration.security.HostileContentIntegrationTests.bytes;
import static io.delayqueue.integration.security.HostileContentIntegrationTests.concat;
import static io.delayqueue.integration.security.HostileContentIntegrationTests.key;
import static io.delayqueue.integration.security.HostileContentIntegrationTests.raw;

/** Where a hostile value is put, beside a message that is in order. */
enum HostilePlace {

    DETAILS {

        @Override
        void put(String id, byte[] value) {
            HostileContentIntegrationTests.put("records", id, GOOD);
            raw.hset(key("records", "details"), bytes(id), value);
        }

    },
    ATTEMPTS {

        @Override
        void put(String id, byte[] value) {
            HostileContentIntegrationTests.put("records", id, GOOD);
            raw.hset(key("records", "attempts"), bytes(id), value);
        }

    },
    RENEWED {

        @Override
        void put(String id, byte[] value) {
            raw.hset(key("records", "messages"), bytes(id), GOOD);
            raw.hset(key("records", "tokens"), bytes(id), value);
            raw.zadd(key("records", "leased"), 1, bytes(id));
        }

    },
    NEXT {

        @Override
        void put(String id, byte[] value) {
            raw.hset(key("records", "messages"), bytes(id), GOOD);
            raw.hset(key("records", "successors"), bytes(id), value);
            raw.zadd(key("records", "leased"), 1, bytes(id));
        }

    },
    ID {

        @Override
        void put(String id, byte[] value) {
            // A name that long is logged as it is.
            HostileContentIntegrationTests.put("records", Arrays.copyOf(value, Math.min(value.length, 300)), GOOD);
        }

    },
    ID_WITHOUT_MESSAGE {

        @Override
        void put(String id, byte[] value) {
            byte[] name = Arrays.copyOf(value, Math.min(value.length, 300));
            raw.zadd(key("records", "scheduled"), Double.NEGATIVE_INFINITY, name);
            raw.zadd(key("records", "leased"), Double.NEGATIVE_INFINITY, concat(name, bytes("l")));
        }

    },
    SCORE {

        @Override
        void put(String id, byte[] value) {
            double[] scores = { Double.NEGATIVE_INFINITY, Double.POSITIVE_INFINITY, -1.5, 0.5, 1e300, -1e300,
                    Double.MIN_VALUE };
            raw.hset(key("records", "messages"), bytes(id), GOOD);
            raw.zadd(key("records", (id.hashCode() % 2 == 0) ? "scheduled" : "leased"),
                    scores[Math.abs(id.hashCode() / 2 % scores.length)], bytes(id));
        }

    },
    LETTER {

        @Override
        void put(String id, byte[] value) {
            raw.zadd(key("records", "dead-order"), 1, bytes(id + "~1"));
            raw.hset(key("records", "dead-letters"), bytes(id + "~1"), value);
        }

    },
    LETTER_NAME {

        @Override
        void put(String id, byte[] value) {
            raw.zadd(key("records", "dead-order"), Double.NEGATIVE_INFINITY, value);
            raw.zadd(key("records", "dead-order"), 5.5, concat(value, bytes("~1")));
            raw.hset(key("records", "dead-letters"), concat(value, bytes("~1")), bytes("1:1:1:0:0:4:1:0:cs0000000{}"));
        }

    },
    WAKE {

        @Override
        void put(String id, byte[] value) {
            raw.set(key("records", "wake"), value);
            HostileContentIntegrationTests.put("records", id, GOOD);
        }

    },
    KEEPER {

        @Override
        void put(String id, byte[] value) {
            raw.set(key("records", "primary"), value);
            HostileContentIntegrationTests.put("records", id, GOOD);
        }

    },
    FOLLOWER {

        @Override
        void put(String id, byte[] value) {
            HostileContentIntegrationTests.put("records", id, GOOD);
            raw.hset(key("records", "details"), bytes(id), bytes("1:0:4:g" + id));
            raw.hset(key("records", "group-heads"), bytes("g" + id), bytes(id));
            raw.zadd(key("records", "waiting"), 0, concat(bytes("g" + id + " "), value));
            raw.zadd(key("records", "waiting"), 0, value);
        }

    },
    HEAD {

        @Override
        void put(String id, byte[] value) {
            HostileContentIntegrationTests.put("records", id, GOOD);
            raw.hset(key("records", "details"), bytes(id), concat(bytes("1:0:4:"), value));
            raw.hset(key("records", "group-heads"), value, bytes(id));
            raw.hset(key("records", "group-heads"), bytes("g" + id), value);
        }

    };

    private static final byte[] GOOD = bytes("s0000000{\"payload\":{\"number\":1}}");

    abstract void put(String id, byte[] value);

}

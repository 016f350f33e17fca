package io.delayqueue.observation;

import io.micrometer.common.docs.KeyName;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;
import io.micrometer.observation.docs.ObservationDocumentation;

/** Documents the observations and their default tags. */
public enum DelayQueueObservation implements ObservationDocumentation {

    /** The send of one message, or of those messages of a batch that share a queue. */
    SEND {

        @Override
        public Class<? extends ObservationConvention<? extends Observation.Context>> getDefaultConvention() {
            return DefaultSendObservationConvention.class;
        }

    },

    /** A handler, until it returns or its future is complete. */
    HANDLE {

        @Override
        public Class<? extends ObservationConvention<? extends Observation.Context>> getDefaultConvention() {
            return DefaultHandleObservationConvention.class;
        }

    };

    @Override
    public KeyName[] getLowCardinalityKeyNames() {
        return LowCardinality.values();
    }

    @Override
    public KeyName[] getHighCardinalityKeyNames() {
        return HighCardinality.values();
    }

    /** Tags with few values. */
    public enum LowCardinality implements KeyName {

        /** Always {@code delayqueue}. */
        SYSTEM {

            @Override
            public String asString() {
                return "messaging.system";
            }

        },

        /** {@code publish} or {@code process}. */
        OPERATION {

            @Override
            public String asString() {
                return "messaging.operation";
            }

        },

        /** The queue. */
        QUEUE {

            @Override
            public String asString() {
                return "messaging.destination.name";
            }

        },

        /** The id of the listener, for handlers only. */
        LISTENER {

            @Override
            public String asString() {
                return "delayqueue.listener.id";
            }

        },

        /** The outcome of the send, {@code success}, or {@code failure}. */
        OUTCOME {

            @Override
            public String asString() {
                return "outcome";
            }

        }

    }

    /** Tags with unbounded values, on spans only. */
    public enum HighCardinality implements KeyName {

        /** The id of the message. */
        ID {

            @Override
            public String asString() {
                return "messaging.message.id";
            }

        },

        /** The number of the attempt, from 1. */
        ATTEMPT {

            @Override
            public String asString() {
                return "delayqueue.attempt";
            }

        },

        /** The number of messages sent together. */
        BATCH_SIZE {

            @Override
            public String asString() {
                return "messaging.batch.message_count";
            }

        }

    }

}

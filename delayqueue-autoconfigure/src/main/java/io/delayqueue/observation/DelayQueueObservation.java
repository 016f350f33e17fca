package io.delayqueue.observation;

import io.micrometer.common.docs.KeyName;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;
import io.micrometer.observation.docs.ObservationDocumentation;

/**
 * Documents the observations and their default tags.
 *
 * @see SendObservationConvention
 */
public enum DelayQueueObservation implements ObservationDocumentation {

    /** The send of one message, or of those messages of a batch that share a queue. */
    SEND(DefaultSendObservationConvention.class),

    /** A handler, until it returns or its future is complete. */
    HANDLE(DefaultHandleObservationConvention.class);

    private final Class<? extends ObservationConvention<? extends Observation.Context>> convention;

    DelayQueueObservation(Class<? extends ObservationConvention<? extends Observation.Context>> convention) {
        this.convention = convention;
    }

    @Override
    public Class<? extends ObservationConvention<? extends Observation.Context>> getDefaultConvention() {
        return this.convention;
    }

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
        SYSTEM("messaging.system"),

        /** {@code publish} or {@code process}. */
        OPERATION("messaging.operation"),

        /** The queue. */
        QUEUE("messaging.destination.name"),

        /** The id of the listener, for handlers only. */
        LISTENER("delayqueue.listener.id"),

        /** The outcome of the send, {@code success}, or {@code failure}. */
        OUTCOME("outcome");

        private final String key;

        LowCardinality(String key) {
            this.key = key;
        }

        @Override
        public String asString() {
            return this.key;
        }

    }

    /** Tags with unbounded values, on spans only. */
    public enum HighCardinality implements KeyName {

        /** The id of the message. */
        ID("messaging.message.id"),

        /** The number of the attempt, from 1. */
        ATTEMPT("delayqueue.attempt"),

        /** The number of messages sent or handled together. */
        BATCH_SIZE("messaging.batch.message_count");

        private final String key;

        HighCardinality(String key) {
            this.key = key;
        }

        @Override
        public String asString() {
            return this.key;
        }

    }

}

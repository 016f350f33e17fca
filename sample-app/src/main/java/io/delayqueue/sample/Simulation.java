package io.delayqueue.sample;

import com.fasterxml.jackson.annotation.JsonProperty;

/** Selects a failure to simulate for an order, for demonstration. */
enum Simulation {

    /** Nothing. */
    @JsonProperty("none")
    NONE,

    /** Its receipt fails twice and then goes out. */
    @JsonProperty("flaky-receipt")
    FLAKY_RECEIPT,

    /** Its receipt fails for as long as the mail server is not repaired. */
    @JsonProperty("poison-receipt")
    POISON_RECEIPT

}

package io.delayqueue.depot;

import org.springframework.boot.autoconfigure.SpringBootApplication;

/** An application that forwards due messages, or takes delayed ones from a broker. */
@SpringBootApplication
class Depot {

}

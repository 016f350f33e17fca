package io.delayqueue.test;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;

/** Configures the application that the tests of this module test. */
@SpringBootConfiguration
@EnableAutoConfiguration
class TestApplication {

    @Bean
    TestListener testListener() {
        return new TestListener();
    }

}

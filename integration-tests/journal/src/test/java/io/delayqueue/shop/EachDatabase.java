package io.delayqueue.shop;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.stream.Stream;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Runs a test on PostgreSQL, and with {@code -Ddq.databases=all}, as the matrix does, on
 * each of {@link ShopDatabase}.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@ParameterizedTest
@MethodSource("io.delayqueue.shop.EachDatabase$Databases#ofThisRun")
public @interface EachDatabase {

    /** Provides the databases of a run. */
    final class Databases {

        private Databases() {
        }

        public static Stream<Arguments> ofThisRun() {
            return "all".equals(System.getProperty("dq.databases"))
                    ? Stream.of(ShopDatabase.values()).map(Arguments::of)
                    : Stream.of(Arguments.of(ShopDatabase.POSTGRESQL));
        }

    }

}

package io.delayqueue.sample.operations;

import java.util.List;
import java.util.Map;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Who there is.
 *
 * @param users Passwords and authorities, by user name.
 */
@ConfigurationProperties("sample.operations")
record OperationsUsers(@DefaultValue Map<String, User> users) {

    /**
     * Somebody.
     *
     * @param password Password, as it is typed.
     * @param authorities Granted authorities, such as DELAYQUEUE_VIEW.
     */
    record User(String password, List<String> authorities) {

        /** Without the password. */
        @Override
        public String toString() {
            return "User" + this.authorities;
        }

    }

}

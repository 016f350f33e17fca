package io.delayqueue.sample.operations;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configurers.AbstractHttpConfigurer;
import org.springframework.security.config.http.SessionCreationPolicy;
import org.springframework.security.web.SecurityFilterChain;

/**
 * Permits all requests to the shop, which has no users, as without Spring Security. The
 * chains of the delay queue and of {@link OperationsSecurity} come first.
 */
@Configuration(proxyBeanMethods = false)
class ShopSecurity {

    private static final int LAST = 1000;

    @Bean
    @Order(LAST)
    SecurityFilterChain shopSecurityFilterChain(HttpSecurity http) {
        return http.authorizeHttpRequests((requests) -> requests.anyRequest().permitAll())
            .csrf(AbstractHttpConfigurer::disable)
            .logout(AbstractHttpConfigurer::disable)
            .requestCache(AbstractHttpConfigurer::disable)
            .sessionManagement((sessions) -> sessions.sessionCreationPolicy(SessionCreationPolicy.STATELESS))
            .build();
    }

}

/** Tests hostile content in Redis, and that payloads appear in no log or exception. */
@NullMarked
package io.delayqueue.integration.security;

import org.jspecify.annotations.NullMarked;

/**
 * Runs Lua scripts on Redis: loading, retries, time limits and the translation of errors.
 */
@NullMarked
package io.delayqueue.redis.script;

import org.jspecify.annotations.NullMarked;

/**
 * Runs Lua scripts on Redis: loading, retries, time limits and the translation of errors.
 * Start at {@code RedisScripts}, the list of the scripts, and {@code ScriptRunner}.
 */
@NullMarked
package io.delayqueue.redis.script;

import org.jspecify.annotations.NullMarked;

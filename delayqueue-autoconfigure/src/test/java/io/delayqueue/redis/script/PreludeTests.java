package io.delayqueue.redis.script;

import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests which declarations of the prelude are added to a script. */
class PreludeTests {

    private final Prelude prelude = new Prelude("""
            -- What these do.
            local QUEUE = KEYS[1]
            local OTHER = KEYS[2]

            -- Uses something.
            local function size()
              return redis.call('ZCARD', QUEUE) -- not OTHER
            end

            local function is_empty()
              return size() == 0
            end
            """);

    @Test
    void addsUsedDeclarationsAndThoseTheyUse() {
        assertThat(this.prelude.complete("return size()")).isEqualTo("""
                local QUEUE = KEYS[1]
                local function size()
                  return redis.call('ZCARD', QUEUE)
                end
                return size()
                """);
        assertThat(this.prelude.complete("return is_empty()")).contains("function size()");
    }

    @Test
    void addsNothingForAComment() {
        assertThat(this.prelude.complete("return 1 -- not is_empty")).isEqualTo("return 1 -- not is_empty\n");
    }

    @Test
    void addsADeclarationToTheOnlyBlockThatUsesIt() {
        assertThat(this.prelude.complete("""
                if ARGV[1] == '1' then
                  -- prelude
                  if is_empty() then return 0 end
                end
                return redis.call('DEL', QUEUE)
                """)).isEqualTo("""
                local QUEUE = KEYS[1]
                if ARGV[1] == '1' then
                local function size()
                  return redis.call('ZCARD', QUEUE)
                end
                local function is_empty()
                  return size() == 0
                end
                  -- prelude
                  if is_empty() then return 0 end
                end
                return redis.call('DEL', QUEUE)
                """);
    }

    @Test
    void addsADeclarationAtTheStartIfOtherPartsUseIt() {
        assertThat(this.prelude.complete("""
                if ARGV[1] == '1' then
                  -- prelude
                  return size()
                end
                return size() + 1
                """)).startsWith("local QUEUE = KEYS[1]\nlocal function size()");
    }

    /**
     * The most frequent calls, which each function costs time. A variable with the name
     * of a declaration adds it too.
     */
    @ParameterizedTest
    @CsvSource({ "send, 2", "claim, 4", "acknowledge, 1" })
    void addsFewDeclarationsToFrequentCalls(String name, int functions) {
        RedisScript script = Stream.of(RedisScripts.SEND, RedisScripts.CLAIM, RedisScripts.ACKNOWLEDGE)
            .filter((each) -> each.name().equals(name))
            .findFirst()
            .orElseThrow();

        assertThat(script.text().substring(0, script.text().indexOf("-- " + name + ".lua")).lines())
            .filteredOn((line) -> line.contains("function"))
            .hasSize(functions);
    }

}

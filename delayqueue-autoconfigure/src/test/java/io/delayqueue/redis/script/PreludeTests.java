package io.delayqueue.redis.script;

import org.junit.jupiter.api.Test;

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
     * A send of a plain message is the most frequent call, and each function costs it
     * time.
     */
    @Test
    void addsFewDeclarationsToSend() {
        String text = RedisScripts.SEND.text();

        assertThat(text.substring(0, text.indexOf("if ARGV[1]")).lines())
            .filteredOn((line) -> line.contains("function"))
            .hasSize(2);
    }

}

package io.delayqueue.mutation;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What breaks the scripts finds their guards, and those that matter not are still there.
 */
@Tag("server")
class ScriptMutantsTests {

    @Test
    void breaksEachGuardInEveryWay() {
        assertThat(changes("if not held(id) and due <= now then return 0 end")).containsExactly(
                "not held(id) and due <= now -> true", "not held(id) and due <= now -> false", "not -> nothing",
                "not held(id) and -> nothing", "and due <= now -> nothing", "<= -> <");
    }

    @Test
    void leavesOutStatements() {
        assertThat(changes("""
                local now = clock()
                redis.call('ZREM', LEASED, id) -- a removal
                due[1], due[2] = now,
                  1
                tidy()
                return due
                """)).containsExactly("redis.call('ZREM', LEASED, id) -> nothing", "due[1], due[2] = now, 1 -> nothing",
                "tidy() -> nothing");
    }

    @Test
    void takesOneOperandAtATime() {
        assertThat(changes("return one and other and math.min(one, other) or one == 'a or b' or other"))
            .containsExactly("one and -> nothing", "and other -> nothing", "other and -> nothing",
                    "and math.min(one, other) -> nothing", "math.min -> math.max",
                    "one and other and math.min(one, other) or -> nothing", "or one == 'a or b' -> nothing", "== -> ~=",
                    "one == 'a or b' or -> nothing", "or other -> nothing");
    }

    @Test
    void whatMakesNoDifferenceIsStillThere() {
        Set<String> keys = ScriptMutations.all().stream().map(Mutant::key).collect(Collectors.toSet());
        Map<String, String> equivalents = Equivalents.read();
        assertThat(keys).containsAll(equivalents.keySet());
        assertThat(equivalents.values()).allSatisfy((reason) -> assertThat(reason).isNotEmpty());
    }

    private static List<String> changes(String script) {
        return ScriptMutants.of("a.lua", script).stream().map(Mutant::change).toList();
    }

}

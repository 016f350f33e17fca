package io.delayqueue.model;

import java.util.TreeSet;

import io.delayqueue.model.Answer.Grant;
import io.delayqueue.model.Held.Message;
import io.delayqueue.model.Ledger.Who;
import org.jspecify.annotations.Nullable;

/**
 * The tokens in a world, renumbered by their order: only that and whether they are equal
 * matters, and worlds that differ in nothing else are one.
 */
final class Tokens {

    private final TreeSet<Integer> used = new TreeSet<>();

    Tokens(World world) {
        Message message = world.store().message();
        if (message != null) {
            use(message.attempts().token());
        }
        world.store().letters().forEach((letter) -> use(letter.token()));
        for (Who who : Moves.CALLERS) {
            use(world.line(who));
        }
        use(world.a().grant());
        use(world.b().grant());
    }

    private void use(@Nullable Line line) {
        if (line != null) {
            use(line.call().token());
            use((line.answer() != null) ? line.answer().grant() : null);
            use((line.first() != null) ? line.first().grant() : null);
        }
    }

    private void use(@Nullable Grant grant) {
        if (grant != null) {
            use(grant.token());
        }
    }

    private void use(int token) {
        if (token > 0) {
            this.used.add(token);
        }
    }

    /** One that is later than all. */
    int next() {
        return this.used.isEmpty() ? 1 : this.used.last() + 1;
    }

    World renumber(World world) {
        if (this.used.isEmpty() || this.used.last() == this.used.size()) {
            return world;
        }
        Message message = world.store().message();
        Held store = new Held(world.store().message(),
                world.store()
                    .letters()
                    .stream()
                    .map((letter) -> new Held.Letter(rank(letter.token()), letter.content(), letter.failures(),
                            letter.lapses()))
                    .toList());
        if (message != null) {
            Held.Attempts attempts = message.attempts();
            store = store.with(message.with(attempts.by(rank(attempts.token()), attempts.givenBack())));
        }
        World changed = world.with(store);
        for (Who who : Moves.CALLERS) {
            Line line = world.line(who);
            if (line != null) {
                changed = changed.with(who, new Line(line.call().withToken(rank(line.call().token())),
                        rank(line.answer()), rank(line.first()), line.touched()));
            }
        }
        return rank(Who.B, rank(Who.A, changed));
    }

    private World rank(Who who, World world) {
        Worker worker = world.worker(who);
        Grant grant = worker.grant();
        return (grant == null) ? world : world.with(who, new Worker(worker.phase(), worker.lease(), worker.renewed(),
                grant.withToken(rank(grant.token())), worker.started(), worker.line()));
    }

    private @Nullable Answer rank(@Nullable Answer answer) {
        Grant grant = (answer != null) ? answer.grant() : null;
        return (answer == null || grant == null) ? answer
                : new Answer(answer.code(), grant.withToken(rank(grant.token())));
    }

    private int rank(int token) {
        return (token == 0) ? 0 : this.used.headSet(token, true).size();
    }

}

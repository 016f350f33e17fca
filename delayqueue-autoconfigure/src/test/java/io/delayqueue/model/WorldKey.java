package io.delayqueue.model;

import io.delayqueue.model.Answer.Grant;
import io.delayqueue.model.Held.Attempts;
import io.delayqueue.model.Held.Letter;
import io.delayqueue.model.Held.Message;
import io.delayqueue.model.Held.Sent;
import io.delayqueue.model.Ledger.Who;
import org.jspecify.annotations.Nullable;

/**
 * A world as a short text: what differs in it differs, and worlds that differ only in
 * which worker is called A have the same.
 */
final class WorldKey {

    private static final int DIGIT = 120;

    private final StringBuilder text = new StringBuilder(96);

    private WorldKey() {
    }

    static String of(World world) {
        String a = textOf(world.a());
        String b = textOf(world.b());
        int order = a.compareTo(b);
        WorldKey key = new WorldKey();
        key.text.append((order <= 0) ? a : b).append((order <= 0) ? b : a);
        key.add(world.store());
        key.add(world.sender().sent());
        Sender.Budget budget = world.sender().budget();
        key.add(budget.sends(), budget.cancels(), budget.reschedules(), budget.redrives());
        key.add(world.sender().line());
        key.add(world.rest().late());
        key.add(world.rest().lateOwns());
        key.add(world.rest().faults());
        key.add(world.ledger(), order);
        return key.text.toString();
    }

    private static String textOf(Worker worker) {
        WorldKey key = new WorldKey();
        key.add(worker.phase().ordinal(), worker.lease(), worker.renewed());
        key.add(worker.started());
        key.add(worker.grant());
        key.add(worker.line());
        return key.text.toString();
    }

    private void add(int... numbers) {
        for (int number : numbers) {
            int rest = Math.abs(number);
            do {
                this.text.append((char) (1 + rest % DIGIT));
                rest /= DIGIT;
            }
            while (rest > 0);
            this.text.append((number < 0) ? '~' : '\0');
        }
    }

    private void add(boolean flag) {
        this.text.append(flag ? 'y' : 'n');
    }

    private void add(Held held) {
        Message message = held.message();
        if (message != null) {
            add(message.sent());
            add(message.place().ordinal(), message.time());
            Attempts attempts = message.attempts();
            add(attempts.failures(), attempts.lapses(), attempts.suspicion().ordinal(), attempts.token());
            add(attempts.givenBack());
            add(message.next().kind().ordinal(), message.next().time());
            add(message.next().sent());
        }
        for (Letter letter : held.letters()) {
            this.text.append('L');
            add(letter.token(), letter.content(), letter.failures(), letter.lapses());
        }
        this.text.append('|');
    }

    private void add(@Nullable Sent sent) {
        if (sent != null) {
            add(sent.content(), sent.stamp());
            add(sent.replaced());
        }
    }

    private void add(@Nullable Line line) {
        if (line != null) {
            Call call = line.call();
            add(call.op().ordinal(), call.content(), call.token(), call.time());
            add(call.failed());
            add(line.answer());
            add(line.first());
            add(line.touched());
        }
        this.text.append('|');
    }

    private void add(@Nullable Answer answer) {
        if (answer != null) {
            add(answer.code().ordinal());
            add(answer.grant());
        }
        this.text.append('|');
    }

    private void add(@Nullable Grant grant) {
        if (grant != null) {
            add(grant.token(), grant.content(), grant.failures(), grant.lapses());
            add(grant.suspect());
        }
        this.text.append('|');
    }

    private void add(Ledger ledger, int order) {
        boolean worker = ledger.owner() == Who.A || ledger.owner() == Who.B;
        boolean first = order == 0 || (ledger.owner() == Who.A) == (order < 0);
        add(worker ? (first ? 0 : 1) : ledger.owner().ordinal());
        add(ledger.lease());
        add(ledger.started());
        add(ledger.suspect());
        for (Fate fate : ledger.fates()) {
            add(fate.marks(), fate.notBefore(), fate.failures(), fate.lapses());
        }
    }

}

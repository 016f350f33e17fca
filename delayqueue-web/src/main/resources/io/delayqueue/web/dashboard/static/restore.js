// Restores the messages of a queue that Redis has lost, from its ledger.

import { html, nothing } from './lib/lit-html.js';
import { count, named, plural } from './format.js';
import { ask, may, queuePath, state } from './store.js';
import { name } from './frame.js';
import { confirm, hideCount, show } from './dialog.js';

/** Requests all steps, which the server limits. */
async function runSteps(queue, plan, progress) {
  const all = { restored: 0, known: 0, skipped: 0, failed: 0, stopped: false };
  let cursor = null;
  do {
    const step = await ask('POST', `${queuePath(queue)}/restore`, {}, { ...plan, cursor });
    ['restored', 'known', 'skipped', 'failed'].forEach((field) => {
      all[field] += step[field];
    });
    cursor = step.nextCursor;
    if (cursor && !progress(all)) {
      all.stopped = true;
      break;
    }
  } while (cursor);
  return all;
}

function summary(all) {
  const parts = [`${plural(all.restored, 'message')} restored`, `${count(all.known)} known to Redis`];
  if (all.skipped > 0) {
    parts.push(`${count(all.skipped)} left out as expired`);
  }
  if (all.failed > 0) {
    parts.push(`${count(all.failed)} failed: restore again`);
  }
  return parts.join(', ') + (all.stopped ? '; stopped' : '');
}

async function askRestore(queue) {
  const view = state.page;
  show('Counting …');
  try {
    const counted = await runSteps(queue, { dryRun: true }, (all) => {
      if (state.page === view) {
        show(`Counting … ${count(all.restored)}`);
      }
      return state.page === view;
    });
    hideCount();
    if (state.page !== view) {
      return;
    }
    if (counted.restored === 0) {
      show(counted.skipped > 0
        ? `Redis holds all messages of the ledger of queue ${named(queue)} but ${plural(counted.skipped, 'expired one')}`
        : `Redis holds all messages of the ledger of queue ${named(queue)}`);
      return;
    }
    confirmRestore(queue, counted.restored, counted.restored + counted.known);
  }
  catch (error) {
    show(`Nothing was changed: ${error.message}`);
  }
}

function confirmRestore(queue, missing, all) {
  confirm({
    title: html`Restore queue ${name(queue)}?`,
    text: html`<p>Redis may have lost ${plural(missing, 'message')} of the ledger, which has ${count(all)}. Dead letters count as lost until they are
      compared. What Redis holds stays as it is.</p>`,
    fields: html`<label>At most in a second <input type="number" name="rate" min="1" max="1000000" placeholder="no limit"></label>`,
    confirm: `Restore: ${plural(missing, 'message')}`,
    act: async (form, progress) => summary(await runSteps(queue, { rate: Number(form.get('rate') || 0) },
      (done) => progress(`${count(done.restored + done.known + done.failed)} of ${count(all)} done`))),
  });
}

/** Renders the button; nothing if the queue is not in mode ledger. */
export function restoring(queue, details) {
  return details.ledger && may('OPERATE')
    ? html`<div class="bar"><button type="button" @click=${() => askRestore(queue)}>Restore …</button>
      <span class="soft">Stores messages again that Redis has lost, from the ledger.</span></div>` : nothing;
}

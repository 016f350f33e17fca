// Overrides the settings of a listener for one queue on one node, until a time or the end of the process.

import { html, nothing } from './lib/lit-html.js';
import { countdown, moment, named } from './format.js';
import { ask, may, now } from './store.js';
import { name } from './frame.js';
import { act, confirm } from './dialog.js';

const SCOPE = 'This changes one node only, with its next report, within six seconds. It ends at its time or with the process, which then follows its configuration again. '
  + 'Handlers that run continue.';

const LENGTHS = [['600000', '10 minutes'], ['3600000', '1 hour'], ['28800000', '8 hours'], ['86400000', '1 day']];

function path(node) {
  return `nodes/${encodeURIComponent(node.id)}/overrides`;
}

function lengths() {
  return html`<fieldset class="options"><legend>How long</legend>${LENGTHS.map(([value, text], index) => html`<label><input type="radio" name="time" value=${value} ?checked=${index === 1}> ${text}</label>`)}</fieldset>`;
}

async function put(node, listener, queue, body) {
  await ask('PUT', path(node), {}, { listener, queue, ...body });
}

function withdraw(node, listener, queue) {
  act(async () => {
    await ask('DELETE', path(node), { listener, queue });
    return `Listener ${named(listener)} follows its configuration again, with the next report of the node`;
  });
}

/** Warns of the end of what another request has set: both end together. */
function together(what) {
  return html`<p>${what} stays, and ends at the same time.</p>`;
}

function askConcurrency(node, listener, status, wanted) {
  confirm({
    title: html`Concurrency of ${name(listener.id)} on this node`,
    text: html`<p>${SCOPE}</p>${wanted?.paused ? together('The pause') : nothing}`,
    fields: html`<label>Messages, or batches, of ${named(status.queue)} at the same time <input type="number" name="concurrency" min="1" max="10000" .value=${String(status.concurrency)} required></label>
      <p class="soft">Its configuration has ${status.configured}.</p>${lengths()}`,
    confirm: 'Set on this node',
    act: async (form) => {
      const concurrency = Number(form.get('concurrency'));
      await put(node, listener.id, status.queue, { concurrency, forMillis: Number(form.get('time')) });
      return `Listener ${named(listener.id)} gets a concurrency of ${concurrency} with the next report of the node`;
    },
  });
}

function askPause(node, listener, status, wanted) {
  confirm({
    title: html`Pause ${name(listener.id)} on this node?`,
    text: html`<p>It claims no further message of ${name(status.queue)}; other nodes do. ${SCOPE}</p>${(wanted?.concurrency ?? null) === null ? nothing : together(`The concurrency of ${wanted.concurrency}`)}`,
    fields: lengths(),
    confirm: 'Pause on this node',
    act: async (form) => {
      await put(node, listener.id, status.queue, { paused: true, forMillis: Number(form.get('time')) });
      return `Listener ${named(listener.id)} pauses with the next report of the node`;
    },
  });
}

/** Resumes, and keeps an overridden concurrency, which another operator may just have set, for the time that the pause had left. */
function resume(node, listener, status, wanted) {
  act(async () => {
    const forMillis = Math.max(1_000, Math.round(Date.parse(wanted.until) - now()));
    await put(node, listener.id, status.queue, { paused: false, forMillis });
    return `Listener ${named(listener.id)} resumes with the next report of the node`;
  });
}

/** Returns the override that is wanted for a queue of a listener, if there is one. */
export function wantedFor(node, listener, queue) {
  return node.wanted.overrides.find((one) => one.listener === listener.id && one.queue === queue) ?? null;
}

function isSame(one, other) {
  return one === null ? other === null : other !== null && one.at === other.at;
}

/** Renders who has overridden the configuration, and whether the node follows it. */
export function overrideState(status, wanted) {
  const shown = wanted ?? status.override;
  if (!shown) {
    return nothing;
  }
  const what = [shown.paused ? 'paused' : null, shown.concurrency === null ? null : `concurrency ${shown.concurrency}`].filter(Boolean).join(', ');
  return html`<span class="line">${isSame(wanted, status.override) ? html`${what} <span class="soft">by ${named(shown.by)} until ${moment(shown.until)}, ends ${countdown(shown.until, now())}</span>`
    : wanted ? html`<span class="tag info">requested</span> ${what} <span class="soft">by ${named(shown.by)}; follows with the next report</span>`
    : html`<span class="tag info">withdrawn</span> <span class="soft">ends with the next report</span>`}</span>`;
}

/** Renders the buttons of one queue of a listener. */
export function overrideActions(node, listener, status, wanted) {
  if (!may('OPERATE')) {
    return nothing;
  }
  const where = `${named(listener.id)} for ${named(status.queue)} on this node`;
  return html`<td class="actions"><button type="button" aria-label=${`Concurrency of ${where}`} @click=${() => askConcurrency(node, listener, status, wanted)}>Concurrency …</button>
    ${wanted?.paused ? html`<button type="button" class="primary" aria-label=${`Resume ${where}`} @click=${() => resume(node, listener, status, wanted)}>Resume</button>`
    : html`<button type="button" aria-label=${`Pause ${where}`} @click=${() => askPause(node, listener, status, wanted)}>Pause …</button>`}
    ${wanted && wanted.concurrency !== null ? html`<button type="button" aria-label=${`Use the configuration of ${where}`} @click=${() => withdraw(node, listener.id, status.queue)}>Use configuration</button>` : nothing}</td>`;
}

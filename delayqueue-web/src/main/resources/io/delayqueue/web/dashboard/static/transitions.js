// Shows the recorded transitions of a message, and erases an id.

import { html, nothing } from './lib/lit-html.js';
import { count, named, plural } from './format.js';
import { ask, askForView, may, queuePath, state } from './store.js';
import { name, time } from './frame.js';
import { confirm } from './dialog.js';

const EVENTS = {
  SENT: 'sent', RESCHEDULED: 'rescheduled', CANCELLED: 'cancelled', CLAIMED: 'claimed', FAILED: 'failed', RETRIED: 'due again',
  RELEASED: 'released', HANDLED: 'handled', EXPIRED: 'expired', DEAD_LETTERED: 'dead-lettered', REDRIVEN: 'redriven',
  PURGED: 'purged', LEASE_LOST: 'lease lost',
};

/** Requests the transitions, if the overview says that the application records them. A failure leaves the rest of the page as it is. */
export async function loadTransitions(route, view, overview) {
  await overview;
  if (!state.overview?.history) {
    return;
  }
  try {
    view.transitions = await askForView('GET', `${queuePath(route.queue)}/messages/by-id/history`, { id: route.id });
    view.transitionsFailure = null;
  }
  catch (failure) {
    view.transitionsFailure = failure.message;
  }
}

function row(entry) {
  return html`<tr>
    <td data-label="Time">${time(entry.at)}</td>
    <th scope="row">${EVENTS[entry.event] ?? entry.event}</th>
    <td class="number" data-label="Attempt">${entry.attempt === null ? '' : count(entry.attempt)}</td>
    <td class="cause" data-label="Detail">${entry.detail === null ? '' : named(entry.detail)}</td>
    <td class="whole" data-label="Node">${name(entry.node)}</td>
  </tr>`;
}

function table(entries) {
  return entries.length === 0 ? html`<p class="empty">No transition is recorded.</p>`
    : html`<div class="scroll" tabindex="0" role="group" aria-labelledby="history"><table><caption class="unseen">Recorded transitions, the earliest first</caption>
      <thead><tr><th scope="col">Time</th><th scope="col">Transition</th><th scope="col" class="number">Attempt</th><th scope="col">Detail</th><th scope="col">Node</th></tr></thead>
      <tbody>${entries.map(row)}</tbody></table></div>`;
}

function askErase(queue, id) {
  confirm({
    title: html`Erase: message ${name(id)}?`,
    text: html`<p>The message is cancelled, and its dead letters and recorded transitions are deleted permanently. A message in flight ends with its handler: erase it again after that.</p>`,
    confirm: 'Erase: everything of this id',
    danger: true,
    act: async () => {
      const erased = await ask('DELETE', `${queuePath(queue)}/messages/by-id/history`, { id });
      return `Erased: ${plural(erased.deadLetters, 'dead letter')}, ${plural(erased.entries, 'transition')}${erased.message === 'LEASED' ? '; the message is in flight' : ''}`;
    },
  });
}

/** Renders the section of the transitions; nothing if the application records none. */
export function transitions() {
  const { queue, id } = state.route;
  const { transitions: recorded, transitionsFailure: failure } = state.page;
  if (!recorded && !failure) {
    return nothing;
  }
  return html`<section aria-labelledby="history"><h2 id="history">History</h2>
    ${failure ? html`<p class="alert info" role="status">The history cannot be read: ${failure}</p>` : nothing}
    ${recorded ? table(recorded.entries) : nothing}
    ${may('OPERATE') ? html`<div class="bar"><button type="button" @click=${() => askErase(queue, id)}>Erase …</button></div>` : nothing}</section>`;
}

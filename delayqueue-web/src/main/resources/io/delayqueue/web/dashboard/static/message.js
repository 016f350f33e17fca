// Shows one message and its actions.

import { html, nothing } from './lib/lit-html.js';
import { count, countdown, shown } from './format.js';
import { indented } from './json.js';
import { askForView, exists, may, now, queuePath, requireNotFound, state } from './store.js';
import { link } from './address.js';
import { crumbs, loading, name, noQueue, time, title } from './frame.js';
import { copying } from './copy.js';
import { askMessages } from './queue.js';
import { scheduleOf } from './occurrence.js';
import { alertsOf } from './alerts.js';
import { isMessageLate } from './lateness.js';
import { loadTransitions, transitions } from './transitions.js';

export async function loadMessage(route, overview) {
  const view = state.page;
  try {
    view.message = await askForView('GET', `${queuePath(route.queue)}/messages/by-id`, { id: route.id });
    view.gone = false;
  }
  catch (failure) {
    requireNotFound(failure);
    view.unknown = !await exists(route.queue);
    view.gone = true;
  }
  await loadTransitions(route, view, overview);
}

/** Renders payload and headers, or why they are hidden. */
export function content(of) {
  if (of.masked) {
    return html`<section aria-labelledby="content"><h2 id="content">Payload and headers</h2>
      <p class="empty">Hidden: the authority DELAYQUEUE_PAYLOAD is required to read them.</p></section>`;
  }
  const headers = Object.entries(of.headers ?? {});
  return html`${payload(of)}
    <section aria-labelledby="headers"><h2 id="headers">Headers</h2>
      ${headers.length === 0 ? html`<p class="empty">None.</p>` : html`<dl class="facts">${headers.map(([key, value]) => html`<div><dt>${name(key)}</dt><dd>${shown(value)}</dd></div>`)}</dl>`}</section>`;
}

/** Renders the payload, or why it is hidden. */
export function payload(of) {
  return html`<section aria-labelledby="content"><div class="with"><h2 id="content">Payload</h2>${of.payloadText ? copying(of.payloadText, 'payload') : nothing}</div>
      ${of.masked ? html`<p class="empty">Hidden: the authority DELAYQUEUE_PAYLOAD is required to read it.</p>`
    : html`<pre tabindex="0" role="group" aria-labelledby="content">${of.payloadText === null || of.payloadText === undefined ? '' : shown(indented(of.payloadText))}</pre>`}</section>`;
}

export function facts(entries) {
  return html`<dl class="facts">${entries.filter(([, value]) => value !== null && value !== undefined)
    .map(([text, value]) => html`<div><dt>${text}</dt><dd>${value}</dd></div>`)}</dl>`;
}

export function messagePage() {
  const { queue, id } = state.route;
  const { message, gone, unknown } = state.page;
  const head = html`${crumbs([queue, link('queues', queue)], [id, link('queues', queue, 'messages', id)])}${title(html`Message ${name(id)}`, html`<span class="push">${copying(id, 'id')}</span>`)}`;
  if (!message) {
    return html`${head}${gone && unknown ? html`${noQueue()}${transitions()}` : gone ? html`<p class="empty" role="status">Queue ${name(queue)} does not hold this message, or no longer does: it was handled, cancelled, or became
      a <a href=${link('queues', queue, 'dead-letters')}>dead letter</a>.</p>${transitions()}` : loading()}`;
  }
  const due = message.dueAt && countdown(message.dueAt, now());
  return html`${head}
    ${gone ? nothing : alertsOf(queue)}
    ${gone ? html`<p class="alert info" role="status">The message was handled or cancelled, or is a <a href=${link('queues', queue, 'dead-letters')}>dead letter</a> now. This is its last known state.</p>` : nothing}
    ${!gone && may('OPERATE') ? html`<div class="bar">${(message.state === 'LEASED' ? ['cancel'] : ['now', 'reschedule', 'cancel'])
    .map((doing) => html`<button type="button" @click=${() => askMessages(queue, doing, [id])}>${{ now: 'Make due now', reschedule: 'Reschedule', cancel: 'Cancel' }[doing]} …</button>`)}</div>` : nothing}
    ${facts([
    ['Schedule', scheduleOf(id) && html`<a href=${link('queues', queue, 'schedules', scheduleOf(id))}>${name(scheduleOf(id))}</a>`],
    ['State', gone ? 'gone' : message.state === 'LEASED' ? 'in flight' : 'waiting'],
    ['Due', message.dueAt && html`${time(message.dueAt)} <strong class=${`countdown line${!gone && message.state !== 'LEASED' && isMessageLate(queue, message.dueAt) ? ' late' : ''}`}>${gone ? '' : due}</strong>`],
    ['Leased until', message.leasedUntil && html`${time(message.leasedUntil)} <span class="soft">unless renewed</span>`],
    ['Expires', message.expiresAt && time(message.expiresAt)],
    ['Priority', message.priority],
    ['Group', message.group && name(message.group)],
    ['Failures so far', count(message.failures)],
    ['First failure', message.firstFailure && shown(message.firstFailure)],
    ['Last failure', message.lastFailedAt && html`${shown(message.lastFailure)} <span class="soft line">${time(message.lastFailedAt)}</span>`],
    ['Next attempt', message.failures > 0 && message.dueAt ? html`${time(message.dueAt)} <span class="soft">${due}</span>` : null],
    ['Lapses', count(message.lapses)],
  ])}
    ${transitions()}
    ${content(message)}`;
}


// Lists all queues in a table, with plots since the page was opened.

import { html, nothing } from './lib/lit-html.js';
import { repeat } from './lib/directives/repeat.js';
import { count, duration, named, plural } from './format.js';
import { changed, state } from './store.js';
import { link, loading, name, time, title, until } from './frame.js';
import { throughputNote, throughputPlots, linePlot } from './history.js';

const COLUMNS = [
  ['queue', 'Queue', (queue) => queue.queue],
  ['scheduled', 'Waiting', (queue) => queue.scheduled],
  ['due', 'Of these due', (queue) => queue.due],
  ['oldestDueMillis', 'Oldest due', (queue) => queue.oldestDueMillis ?? -1],
  ['leased', 'In flight', (queue) => queue.leased],
  ['dead', 'Dead letters', (queue) => queue.dead],
  ['nextDueAt', 'Next due', (queue) => queue.nextDueAt ? Date.parse(queue.nextDueAt) : Infinity],
];

const MORE = 50;

function compare(one, other) {
  return typeof one === 'string' ? one.localeCompare(other) : one - other || 0;
}

function rows() {
  const wanted = state.filter.trim().toLowerCase();
  const [, , value] = COLUMNS.find(([by]) => by === state.sort.by);
  const queues = state.overview.queues.filter((queue) => queue.queue.toLowerCase().includes(wanted));
  queues.sort((one, other) => compare(value(one), value(other)) || compare(one.queue, other.queue));
  return state.sort.down ? queues.reverse() : queues;
}

function sort(by) {
  // Show the first rows of the new order.
  state.shownRows = MORE;
  state.sort = state.sort.by === by ? { by, down: !state.sort.down } : { by, down: by !== 'queue' && by !== 'nextDueAt' };
  changed();
}

function head([by, text]) {
  const sorted = state.sort.by === by;
  return html`<th scope="col" class=${by === 'queue' ? '' : 'number'} aria-sort=${sorted ? (state.sort.down ? 'descending' : 'ascending') : 'none'}>
    <button type="button" class="sort" @click=${() => sort(by)}>${text}<span aria-hidden="true">${sorted ? (state.sort.down ? ' ↓' : ' ↑') : ''}</span></button></th>`;
}

export function paused(queue) {
  if (!queue.paused) {
    return nothing;
  }
  return html` <span class="tag paused">paused${queue.pausedUntil ? html` until ${time(queue.pausedUntil)}` : ''}</span>`;
}

function row(queue) {
  return html`<tr>
    <th scope="row"><a href=${link('queues', queue.queue)}>${name(queue.queue)}</a>${paused(queue)}</th>
    <td class="number" data-label="Waiting">${count(queue.scheduled)}</td>
    <td class="number" data-label="Of these due">${count(queue.due)}</td>
    <td class=${`number${queue.oldestDueMillis > 60_000 ? ' late' : ''}`} data-label="Oldest due">${duration(queue.oldestDueMillis)}</td>
    <td class="number" data-label="In flight">${count(queue.leased)}</td>
    <td class="number" data-label="Dead letters">${queue.dead > 0
    ? html`<a href=${link('queues', queue.queue, 'dead-letters')} aria-label=${`${plural(queue.dead, 'dead letter')} of ${named(queue.queue)}`}>${count(queue.dead)}</a>` : '0'}</td>
    <td class="number" data-label="Next due">${until(queue.nextDueAt)}</td>
  </tr>`;
}

function tiles() {
  const total = state.history.at(-1).total;
  return html`<dl class="tiles">
    ${[['Waiting', total.scheduled], ['Of these due', total.due], ['In flight', total.leased], ['Dead letters', total.dead]]
    .map(([text, number]) => html`<div><dt>${text}</dt><dd>${count(number)}</dd></div>`)}
  </dl>`;
}

function unreadable() {
  const { failures } = state.overview;
  return failures.length === 0 ? nothing : html`<section aria-labelledby="unreadable-queues">
      <h2 id="unreadable-queues">Queues that cannot be read</h2>
      <dl class="facts">${failures.map(({ queue, detail }) => html`<div><dt>${name(queue)}</dt><dd>${detail}</dd></div>`)}</dl>
    </section>`;
}

export function overviewPage() {
  if (!state.overview) {
    return html`${title('Queues')}${loading()}`;
  }
  const all = rows();
  const some = all.slice(0, state.shownRows);
  const listens = state.history.some((entry) => entry.listens);
  const alerts = state.overview.alerts.filter((alert) => alert.severity !== 'info');
  return html`
    ${title('Queues')}
    ${alerts.length > 0 ? html`<p class="alert warning"><a href="#/alerts">${plural(alerts.length, 'alert')}</a>: ${alerts[0].title}${alerts[0].queue ? html` (${name(alerts[0].queue)})` : nothing}${alerts.length > 1 ? ' and more' : ''}</p>` : nothing}
    ${tiles()}
    <div class="plots">
      ${linePlot('backlog', 'Messages of all queues', [
    ['Due', (entry) => entry.total.due], ['In flight', (entry) => entry.total.leased],
    ['Dead letters', (entry) => entry.total.dead]], count)}
      ${listens ? throughputPlots() : nothing}
    </div>
    ${listens ? throughputNote() : nothing}
    <section aria-labelledby="all-queues">
      <h2 id="all-queues">All queues</h2>
      <div class="bar">
        <label>Name contains <input type="search" .value=${state.filter} @input=${(event) => {
    state.filter = event.target.value;
    state.shownRows = MORE;
    changed();
  }}></label>
        <span class="soft" role="status">${plural(all.length, 'queue')}${state.overview.more ? '; only the first names are shown' : ''}</span>
      </div>
      ${all.length === 0 ? html`<p class="empty">${state.overview.queues.length + state.overview.failures.length === 0
    ? 'There are no queues yet. A queue appears when a message is sent to it or a listener starts.' : 'No queue matches.'}</p>` : html`
      <div class="scroll" tabindex="0" role="group" aria-labelledby="all-queues"><table>
        <caption class="unseen">All queues; use the header buttons to sort</caption>
        <thead><tr>${COLUMNS.map(head)}</tr></thead>
        <tbody>${repeat(some, (queue) => queue.queue, row)}</tbody>
      </table></div>`}
      ${all.length > some.length ? html`<button type="button" @click=${() => {
    state.shownRows += MORE;
    changed();
  }}>Show ${count(Math.min(MORE, all.length - some.length))} more of ${count(all.length)}</button>` : nothing}
    </section>
    ${unreadable()}`;
}

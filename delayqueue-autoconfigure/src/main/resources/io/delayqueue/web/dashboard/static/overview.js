// All queues in one table, and how they have gone while this page was open.

import { html, nothing } from './lib/lit-html.js';
import { repeat } from './lib/directives/repeat.js';
import { count, duration, named, plural } from './format.js';
import { changed, state } from './store.js';
import { link, loading, name, time, title, until } from './frame.js';
import { flowNote, flowPlots, linePlot } from './history.js';

const COLUMNS = [
  ['queue', 'Queue', (queue) => queue.queue],
  ['scheduled', 'Waiting', (queue) => queue.scheduled],
  ['due', 'Of these due', (queue) => queue.due],
  ['oldestDueMillis', 'Oldest due', (queue) => queue.oldestDueMillis ?? -1],
  ['leased', 'In work', (queue) => queue.leased],
  ['dead', 'Dead', (queue) => queue.dead],
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
  // Who sorts wants to see the first ones.
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
    <td class="number" data-label="In work">${count(queue.leased)}</td>
    <td class="number" data-label="Dead">${queue.dead > 0
    ? html`<a href=${link('queues', queue.queue, 'dead-letters')} aria-label=${`${plural(queue.dead, 'dead letter')} of ${named(queue.queue)}`}>${count(queue.dead)}</a>` : '0'}</td>
    <td class="number" data-label="Next due">${until(queue.nextDueAt)}</td>
  </tr>`;
}

function tiles() {
  const total = state.history.at(-1).total;
  return html`<dl class="tiles">
    ${[['Waiting', total.scheduled], ['Of these due', total.due], ['In work', total.leased], ['Dead', total.dead]]
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
  const problems = state.overview.problems.filter((problem) => problem.severity !== 'info');
  return html`
    ${title('Queues')}
    ${problems.length > 0 ? html`<p class="problem warning"><a href="#/problems">${plural(problems.length, 'problem')}</a>: ${problems[0].title}${problems[0].queue ? html` (${name(problems[0].queue)})` : nothing}${problems.length > 1 ? ' and more' : ''}</p>` : nothing}
    ${tiles()}
    <div class="plots">
      ${linePlot('backlog', 'Messages of all queues', [
    ['Due', (entry) => entry.total.due], ['In work', (entry) => entry.total.leased],
    ['Dead', (entry) => entry.total.dead]], count)}
      ${listens ? flowPlots() : nothing}
    </div>
    ${listens ? flowNote() : nothing}
    <section aria-labelledby="all-queues">
      <h2 id="all-queues">All queues</h2>
      <div class="bar">
        <label>Name contains <input type="search" .value=${state.filter} @input=${(event) => {
    state.filter = event.target.value;
    state.shownRows = MORE;
    changed();
  }}></label>
        <span class="soft" role="status">${plural(all.length, 'queue')}${state.overview.more ? ' of those with the first names; there are more' : ''}</span>
      </div>
      ${all.length === 0 ? html`<p class="empty">${state.overview.queues.length + state.overview.failures.length === 0
    ? 'There is no queue yet. A queue is here once somebody has sent to it or listens to it.' : 'No queue has such a name.'}</p>` : html`
      <div class="scroll" tabindex="0" role="group" aria-labelledby="all-queues"><table>
        <caption class="unseen">All queues; the buttons in the head sort</caption>
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

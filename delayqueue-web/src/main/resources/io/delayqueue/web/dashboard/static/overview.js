// Lists all queues in a table, with plots of the last three hours, or since the page was opened.

import { html, nothing } from './lib/lit-html.js';
import { repeat } from './lib/directives/repeat.js';
import { count, duration, named, plural } from './format.js';
import { changed, state } from './store.js';
import { link, showQuery } from './address.js';
import { name, time, title, until } from './frame.js';
import { alertSummary, NO_CONSUMER } from './alerts.js';
import { isLate, isLateByHandlers, latenessTile } from './lateness.js';
import { nextHourOfAll } from './next-hour.js';
import { activityNote, activityPlots, rangeChoice, showsActivity } from './activity.js';
import { isPhone, pageSize } from './pages.js';
import { throughputNote, throughputPlots, linePlot } from './history.js';
import { strip } from './plots.js';

const COLUMNS = [
  ['queue', 'Queue', (queue) => queue.queue],
  ['scheduled', 'Waiting', (queue) => queue.scheduled],
  ['due', 'Due now', (queue) => queue.due],
  ['oldestDueMillis', 'Oldest due', (queue) => (isLateByHandlers(queue) ? queue.latenessMillis : queue.oldestDueMillis) ?? -1],
  ['leased', 'In flight', (queue) => queue.leased],
  ['dead', 'Dead letters', (queue) => queue.dead],
  ['nextDueAt', 'Next due', (queue) => queue.nextDueAt ? Date.parse(queue.nextDueAt) : Infinity],
];


function compare(one, other) {
  return typeof one === 'string' ? one.localeCompare(other) : one - other || 0;
}

/** Reads filter, order and number of rows from the address. */
export function prepareOverview({ parts, query }) {
  const view = state.page;
  view.by = COLUMNS.some(([by]) => by === query.sort) ? query.sort : 'queue';
  view.down = query.order === 'down';
  view.filter = query.filter ?? '';
  view.typed = view.typing ? view.typed : view.filter;
  view.shownRows = Math.max(pageSize(), Number(query.rows) || 0);
  state.overviewAddress = link(...parts, query);
}

function rows() {
  const view = state.page;
  const wanted = view.filter.trim().toLowerCase();
  const [, , value] = COLUMNS.find(([by]) => by === view.by);
  const queues = state.overview.queues.filter((queue) => queue.queue.toLowerCase().includes(wanted));
  queues.sort((one, other) => compare(value(one), value(other)) || compare(one.queue, other.queue));
  return view.down ? queues.reverse() : queues;
}

function sort(by) {
  const view = state.page;
  const down = view.by === by ? !view.down : by !== 'queue' && by !== 'nextDueAt';
  showQuery({ sort: by === 'queue' ? null : by, order: down ? 'down' : null, rows: null });
}

function head([by, text]) {
  const { by: chosen, down } = state.page;
  const sorted = chosen === by;
  return html`<th scope="col" class=${by === 'queue' ? '' : 'number'} aria-sort=${sorted ? (down ? 'descending' : 'ascending') : 'none'}>
    <button type="button" class="sort" @click=${() => sort(by)}>${text}<span aria-hidden="true">${sorted ? (down ? ' ↓' : ' ↑') : ''}</span></button></th>`;
}

function type(event) {
  const view = state.page;
  view.typed = event.target.value;
  view.filter = view.typed;
  view.shownRows = pageSize();
  changed();
  clearTimeout(view.typing);
  view.typing = setTimeout(() => {
    view.typing = null;
    showQuery({ filter: view.typed, rows: null }, true);
  }, 200);
}

export function paused(queue) {
  if (!queue.paused) {
    return nothing;
  }
  return html` <span class="tag paused">paused${queue.pausedUntil ? html` until ${time(queue.pausedUntil)}` : ''}</span>`;
}

function unconsumed({ queue }) {
  return state.overview.alerts.some((alert) => alert.queue === queue && alert.title === NO_CONSUMER) ? html` <span class="tag error">no consumer</span>` : nothing;
}

/** Renders a number; zeros are pale, and left out on phones. */
function number(text, value, shown = count(value), kind = '') {
  return html`<td class=${`number${value ? kind : ' zero'}`} data-label=${text}>${shown}</td>`;
}

function row(queue) {
  const late = isLate(queue);
  return html`<tr>
    <th scope="row"><a href=${link('queues', queue.queue)}>${name(queue.queue)}</a>${paused(queue)}${unconsumed(queue)}</th>
    ${number('Waiting', queue.scheduled)}
    ${number('Due now', queue.due)}
    <td class=${`number${late ? ' late' : queue.oldestDueMillis === null ? ' zero' : ''}`} data-label="Oldest due">${isLateByHandlers(queue)
    ? html`<span title="99 % of the handlers of the last two minutes started no later than this">${duration(queue.latenessMillis)} (99 %)</span>` : duration(queue.oldestDueMillis)}</td>
    ${number('In flight', queue.leased)}
    ${number('Dead letters', queue.dead, queue.dead > 0
    ? html`<a href=${link('queues', queue.queue, 'dead-letters')} aria-label=${`${plural(queue.dead, 'dead letter')} of ${named(queue.queue)}`}>${count(queue.dead)}</a>` : '0', ' warn')}
    <td class=${`number${queue.nextDueAt ? '' : ' zero'}`} data-label="Next due">${until(queue.nextDueAt)}</td>
  </tr>`;
}

function tiles() {
  const total = state.history.at(-1).total;
  return html`<dl class="tiles">
    ${latenessTile()}
    ${[['Waiting', total.scheduled], ['Due now', total.due], ['In flight', total.leased], ['Dead letters', total.dead]]
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
  const all = rows();
  const view = state.page;
  const some = all.slice(0, view.shownRows);
  const listens = state.history.some((entry) => entry.listens);
  const plots = html`${showsActivity(view.activity) ? html`${strip(html`${activityPlots(view.activity, 'all queues')}${nextHourOfAll()}`)}
    ${activityNote(view.activity)}` : html`${strip(html`
      ${linePlot('backlog', 'Messages of all queues', [
    ['Due', (entry) => entry.total.due], ['In flight', (entry) => entry.total.leased],
    ['Dead letters', (entry) => entry.total.dead]], count)}
      ${nextHourOfAll()}
      ${listens ? throughputPlots() : nothing}`)}
    ${listens ? throughputNote() : nothing}`}`;
  const list = html`<section aria-labelledby="all-queues">
      <div class="head"><h2 id="all-queues">All queues</h2>
      <div class="bar">
        <span class="soft" role="status">${plural(all.length, 'queue')}${state.overview.more ? '; only the first names are shown' : ''}</span>
        <label><span class="unseen">Name contains</span><input placeholder="Name contains" type="search" .value=${view.typed} @input=${type}></label>
      </div></div>
      ${all.length === 0 ? html`<p class="empty">${state.overview.queues.length + state.overview.failures.length === 0
    ? 'There are no queues yet. A queue appears when a message is sent to it or a listener starts.' : 'No queue matches.'}</p>` : html`
      <div class="scroll" tabindex="0" role="group" aria-labelledby="all-queues"><table>
        <caption class="unseen">All queues; use the header buttons to sort</caption>
        <thead><tr>${COLUMNS.map(head)}</tr></thead>
        <tbody>${repeat(some, (queue) => queue.queue, row)}</tbody>
      </table></div>`}
      ${all.length > some.length ? html`<button type="button" @click=${() => showQuery({ rows: view.shownRows + pageSize() }, true)}>Show ${count(Math.min(pageSize(), all.length - some.length))} more of ${count(all.length)}</button>` : nothing}
    </section>`;
  return html`
    ${title('Queues', rangeChoice())}
    ${alertSummary()}
    ${tiles()}
    ${isPhone() ? [list, plots] : [plots, list]}
    ${unreadable()}`;
}

// Lists the nodes, those with overdue handlers first.

import { html, nothing } from './lib/lit-html.js';
import { count, countdown } from './format.js';
import { askForView, now, state } from './store.js';
import { link } from './address.js';
import { loading, name, time, title } from './frame.js';
import { handlersOf, handlerTable, nodeLink, overdueTag } from './handlers.js';

export async function loadNodes() {
  const view = state.page;
  view.nodes = (await askForView('GET', 'nodes')).nodes;
}

/** Renders the state of a listener, or of one of its queues. */
export function stateTag(listener, status) {
  const paused = status?.override?.paused;
  return !listener.running ? html`<span class="tag">stopped</span>`
    : paused ? html`<span class="tag paused">paused</span>`
    : listener.paused ? html`<span class="tag paused">paused</span> <span class="soft">by the application</span>`
    : listener.outage ? html`<span class="tag warning" title=${listener.outage}>waits for another system</span>`
    : html`<span class="tag ok">running</span>`;
}

function entry(listener) {
  const overrides = listener.byQueue.filter((status) => status.override).length;
  const isPaused = listener.paused || listener.outage || !listener.running;
  return html`<li>${name(listener.id)}: ${listener.queues.map((queue, index) => html`${index > 0 ? ', ' : ''}<a href=${link('queues', queue)}>${name(queue)}</a>`)}
    ${isPaused ? stateTag(listener, listener.byQueue.find((status) => status.override?.paused)) : nothing}
    ${overrides > 0 ? html`<span class="tag info">overridden</span>` : nothing}</li>`;
}

function node(one) {
  const free = one.listeners.reduce((sum, listener) => sum + listener.free, 0);
  return html`<tr>
    <th scope="row">${nodeLink(one)}</th>
    <td data-label="Application">${name(one.application)}</td>
    <td class="whole" data-label="Handlers">${count(one.handlers.total)} running, ${count(free)} free ${one.handlers.overdue > 0 ? overdueTag(one.handlers.overdue) : nothing}</td>
    <td data-label="Version">${name(one.version ?? '–')}</td>
    <td data-label="Started">${time(one.startedAt)}</td>
    <td class="whole" data-label="Last seen">${countdown(one.seenAt, now())}</td>
    <td data-label="Listeners"><ul class="plain">${one.listeners.map(entry)}</ul></td>
  </tr>`;
}

function overdueHandlers(nodes) {
  const overdue = handlersOf(nodes).filter(({ handler }) => handler.overdue);
  return overdue.length === 0 ? nothing : html`<section aria-labelledby="overdue"><h2 id="overdue">Overdue handlers</h2>${handlerTable(overdue, 'overdue')}</section>`;
}

export function nodesPage() {
  const { nodes } = state.page;
  if (!nodes) {
    return html`${title('Nodes')}${loading()}`;
  }
  const sum = (field) => nodes.reduce((total, one) => total + one.handlers[field], 0);
  const sorted = [...nodes].sort((one, other) => other.handlers.overdue - one.handlers.overdue || one.application.localeCompare(other.application) || Date.parse(one.startedAt) - Date.parse(other.startedAt));
  return html`${title('Nodes')}
    <dl class="tiles">
      <div><dt>Nodes</dt><dd>${count(nodes.length)}</dd></div>
      <div><dt>Running handlers</dt><dd>${count(sum('total'))}</dd></div>
      <div class=${sum('overdue') > 0 ? 'bad' : ''}><dt>Overdue handlers</dt><dd>${count(sum('overdue'))}</dd></div>
    </dl>
    ${overdueHandlers(nodes)}
    <section aria-labelledby="nodes"><h2 id="nodes">All nodes</h2>
    ${nodes.length === 0 ? html`<p class="empty">No node has reported within the last 20 seconds. Nodes are processes with listeners.</p>` : html`
      <div class="scroll" tabindex="0" role="group" aria-labelledby="nodes"><table><caption class="unseen">Nodes, those with overdue handlers first</caption>
      <thead><tr>${['Node', 'Application', 'Handlers', 'Version', 'Started', 'Last seen', 'Listeners'].map((text) => html`<th scope="col">${text}</th>`)}</tr></thead>
      <tbody>${sorted.map(node)}</tbody></table></div>`}
    </section>`;
}

// Lists the nodes, and the listeners of the node that serves the page.

import { html, nothing } from './lib/lit-html.js';
import { count, countdown, named } from './format.js';
import { ask, may, now, state } from './store.js';
import { link } from './address.js';
import { loading, name, time, title } from './frame.js';
import { act } from './dialog.js';

export async function loadNodes() {
  const view = state.page;
  const [nodes, listeners] = await Promise.all([ask('GET', 'nodes'), ask('GET', 'listeners')]);
  view.nodes = { ...nodes, ...listeners };
}

function stateOf(listener) {
  return !listener.running ? 'stopped' : listener.paused ? 'paused' : listener.outage ? 'waits for another system' : 'running';
}

function turn(listener, doing) {
  act(async () => {
    await ask('POST', `listeners/${doing}`, {}, { id: listener.id });
    return doing === 'pause' ? `Listener ${named(listener.id)} is paused on this node` : `Listener ${named(listener.id)} is resumed on this node`;
  });
}

function listener(one) {
  return html`<tr>
    <th scope="row">${name(one.id)}</th>
    <td data-label="Queues">${one.queues.map((queue, index) => html`${index > 0 ? ', ' : ''}<a href=${link('queues', queue)}>${name(queue)}</a>`)}</td>
    <td data-label="State">${stateOf(one)}</td>
    <td class="number" data-label="In flight">${count(one.inFlight)}</td>
    <td class="number" data-label="Free handlers">${count(one.free)}</td>
    <td class="number" data-label="Handled">${count(one.handled)}</td>
    <td class="number" data-label="Failed">${count(one.failed)}</td>
    ${may('OPERATE') ? html`<td>${one.paused
    ? html`<button type="button" aria-label=${`Resume ${named(one.id)} on this node`} @click=${() => turn(one, 'resume')}>Resume</button>`
    : html`<button type="button" aria-label=${`Pause ${named(one.id)} on this node`} @click=${() => turn(one, 'pause')}>Pause</button>`}</td>` : nothing}
  </tr>`;
}

function node(one) {
  return html`<tr>
    <th scope="row">${name(one.application)}</th>
    <td class="whole" data-label="Process">${name(`${one.host}:${one.pid}`)}</td>
    <td data-label="Version">${name(one.version ?? '–')}</td>
    <td data-label="Started">${time(one.startedAt)}</td>
    <td class="whole" data-label="Last seen">${countdown(one.seenAt, now())}</td>
    <td data-label="Listeners"><ul class="plain">${one.listeners.map((entry) => html`<li>${name(entry.id)}: ${entry.queues.map((queue, index) => html`${index > 0 ? ', ' : ''}<a href=${link('queues', queue)}>${name(queue)}</a>`)}
      <span class="soft">${stateOf(entry)}, ${count(entry.free)} of ${count(entry.concurrency * entry.queues.length)} free</span></li>`)}</ul></td>
  </tr>`;
}

export function nodesPage() {
  const view = state.page.nodes;
  if (!view) {
    return html`${title('Nodes and listeners')}${loading()}`;
  }
  return html`${title('Nodes and listeners')}
    <section aria-labelledby="nodes"><h2 id="nodes">Nodes</h2>
    ${view.nodes.length === 0 ? html`<p class="empty">No active nodes in the last 20 seconds.</p>` : html`
      <div class="scroll" tabindex="0" role="group" aria-labelledby="nodes"><table><caption class="unseen">Nodes</caption>
      <thead><tr>${['Application', 'Process', 'Version', 'Started', 'Last seen', 'Listeners'].map((text) => html`<th scope="col">${text}</th>`)}</tr></thead>
      <tbody>${view.nodes.map(node)}</tbody></table></div>`}
    </section>
    <section aria-labelledby="listeners"><h2 id="listeners">Listeners of the node that serves this page</h2>
      <p class="alert info">Pausing a listener applies to this node only, and ends with its process; other nodes continue. To stop a queue everywhere, pause it on its page.
      Behind a load balancer, the next request may reach another node.</p>
    ${view.listeners.length === 0 ? html`<p class="empty">This node has no listeners.</p>` : html`
      <div class="scroll" tabindex="0" role="group" aria-labelledby="listeners"><table><caption class="unseen">Listeners of this node</caption>
      <thead><tr>${['Listener', 'Queues', 'State'].map((text) => html`<th scope="col">${text}</th>`)}${['In flight', 'Free handlers', 'Handled', 'Failed'].map((text) => html`<th scope="col" class="number">${text}</th>`)}${may('OPERATE') ? html`<th scope="col"><span class="unseen">Action</span></th>` : nothing}</tr></thead>
      <tbody>${view.listeners.map(listener)}</tbody></table></div>`}
    </section>`;
}

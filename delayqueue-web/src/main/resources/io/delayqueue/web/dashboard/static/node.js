// Shows one node: its listeners with their overrides, its handlers with their stack frames, and its intakes.

import { html, nothing } from './lib/lit-html.js';
import { count, countdown, named } from './format.js';
import { askForView, may, now, requireNotFound, state } from './store.js';
import { link } from './address.js';
import { loading, name, time, title, trail } from './frame.js';
import { handlerTable, processName } from './handlers.js';
import { overrideActions, overrideState, wantedFor } from './overrides.js';
import { stateTag } from './nodes.js';
import { loadStacks, stacksSection } from './stacks.js';

export async function loadNode(route, overview) {
  const view = state.page;
  try {
    const node = await askForView('GET', `nodes/${encodeURIComponent(route.node)}`);
    await overview; // names the authorities
    const stacks = await loadStacks(node);
    Object.assign(view, { node, stacks, gone: false });
  }
  catch (failure) {
    requireNotFound(failure);
    view.gone = true;
  }
}

export function nodeTitle() {
  return `${state.page.node ? named(processName(state.page.node)) : 'Node'} – Nodes`;
}

function row(node, listener, status) {
  const wanted = wantedFor(node, listener, status.queue);
  const busy = Math.max(0, status.concurrency - status.free);
  return html`<tr>
    <th scope="row">${name(listener.id)}</th>
    <td data-label="Queue"><a href=${link('queues', status.queue)}>${name(status.queue)}</a></td>
    <td data-label="State">${stateTag(listener, status)}</td>
    <td class="number" data-label="Busy handlers">${listener.running ? html`${count(busy)} of ${count(status.concurrency)}` : '–'}</td>
    <td class="number" data-label="Handled">${count(listener.handled)}</td>
    <td class="number" data-label="Failed">${count(listener.failed)}</td>
    <td class=${wanted || status.override ? '' : 'zero'} data-label="Override">${wanted || status.override ? overrideState(status, wanted) : '–'}</td>
    ${overrideActions(node, listener, status, wanted)}
  </tr>`;
}

/** A node of an earlier version reports no details of queues and takes no overrides. */
function oldRow(listener) {
  return html`<tr>
    <th scope="row">${name(listener.id)}</th>
    <td data-label="Queue">${listener.queues.map((queue, index) => html`${index > 0 ? ', ' : ''}<a href=${link('queues', queue)}>${name(queue)}</a>`)}</td>
    <td data-label="State">${stateTag(listener, null)}</td>
    <td class="number" data-label="Busy handlers">–</td>
    <td class="number" data-label="Handled">–</td>
    <td class="number" data-label="Failed">–</td>
    <td class="zero" data-label="Override">Its version takes none</td>
    ${may('OPERATE') ? html`<td></td>` : nothing}
  </tr>`;
}

function listeners(node) {
  return html`<section aria-labelledby="listeners"><h2 id="listeners">Listeners</h2>
    ${node.listeners.length === 0 ? html`<p class="empty">This node has no listeners.</p>` : html`
    <div class="scroll" tabindex="0" role="group" aria-labelledby="listeners"><table><caption class="unseen">Listeners of this node, by queue</caption>
      <thead><tr>${['Listener', 'Queue', 'State'].map((text) => html`<th scope="col">${text}</th>`)}${['Busy handlers', 'Handled', 'Failed'].map((text) => html`<th scope="col" class="number">${text}</th>`)}<th scope="col">Override</th>${may('OPERATE') ? html`<th scope="col"><span class="unseen">Actions</span></th>` : nothing}</tr></thead>
      <tbody>${node.listeners.map((listener) => listener.byQueue.length === 0 ? oldRow(listener) : listener.byQueue.map((status) => row(node, listener, status)))}</tbody></table></div>
    <p class="note">An override applies to this node only, until its time or the end of the process. To stop a queue on every node, pause it on its page.</p>`}</section>`;
}

function handlers(node) {
  const { total, longest } = node.handlers;
  return html`<section aria-labelledby="handlers"><h2 id="handlers">Handlers that run longest</h2>
    ${longest.length === 0 ? html`<p class="empty">No handler runs.</p>` : html`${handlerTable(longest.map((handler) => ({ node, handler })), 'handlers', { ofOneNode: true })}
    ${total > longest.length ? html`<p class="note">${count(longest.length)} of ${count(total)} running handlers, as of the last report.</p>` : nothing}`}</section>`;
}

function intakeState(intake) {
  return intake.problem ? html`<span class="tag warning">schedules nothing</span> <span class="soft">${intake.problem}</span>`
    : !intake.running ? html`<span class="tag">stopped</span>`
    : html`<span class="tag ok">running</span>`;
}

function intakes(node) {
  return node.intakes.length === 0 ? nothing : html`<section aria-labelledby="intakes"><h2 id="intakes">Intakes</h2>
    <div class="scroll" tabindex="0" role="group" aria-labelledby="intakes"><table><caption class="unseen">What this node reads from brokers</caption>
      <thead><tr>${['Source', 'Queue', 'State'].map((text) => html`<th scope="col">${text}</th>`)}${['Scheduled', 'Kept', 'Skipped', 'Invalid'].map((text) => html`<th scope="col" class="number">${text}</th>`)}</tr></thead>
      <tbody>${node.intakes.map((intake) => html`<tr>
        <th scope="row">${name(intake.source)}</th>
        <td data-label="Queue"><a href=${link('queues', intake.queue)}>${name(intake.queue)}</a></td>
        <td class="whole" data-label="State">${intakeState(intake)}</td>
        ${['Scheduled', 'Kept', 'Skipped', 'Invalid'].map((text) => html`<td class="number" data-label=${text}>${count(intake[text.toLowerCase()])}</td>`)}
      </tr>`)}</tbody></table></div>
    <p class="note">Counts since the process started. A message is kept if the queue holds one of its id, and skipped if it has no header for a delay.</p></section>`;
}

export function nodePage() {
  const { node, stacks, gone } = state.page;
  const head = (text) => html`${trail(html`<a href="#/nodes">Nodes</a>`, [node ? processName(node) : 'Node', link('nodes', state.route.node)])}${title(text)}`;
  if (gone) {
    return html`${head('This node is gone')}<p class="empty" role="status">It has stopped, or has not reported for 20 seconds. A restarted process is another node, and begins with its configuration. <a href="#/nodes">All nodes</a></p>`;
  }
  if (!node) {
    return html`${head('Node')}${loading()}`;
  }
  const { total, overdue } = node.handlers;
  const statuses = node.listeners.flatMap((listener) => listener.byQueue);
  const free = node.listeners.reduce((sum, listener) => sum + listener.free, 0);
  return html`${head(html`Node ${name(processName(node))}`)}
    <p class="soft">${name(node.application)}${node.version ? html`, version ${name(node.version)}` : nothing}, started ${time(node.startedAt)}, last report ${countdown(node.seenAt, now())}</p>
    <dl class="tiles">
      <div class=${overdue > 0 ? 'bad' : ''}><dt>Overdue handlers</dt><dd>${count(overdue)}</dd></div>
      ${[['Running handlers', total], ['Free handlers', free], ['Overrides', statuses.filter((status) => status.override).length]].map(([text, value]) => html`<div><dt>${text}</dt><dd>${count(value)}</dd></div>`)}
    </dl>
    ${listeners(node)}
    ${handlers(node)}
    ${intakes(node)}
    ${stacksSection(node, stacks)}`;
}
